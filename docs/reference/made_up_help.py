"""A program that does not exist, whose help has all that is hard to quote."""

import json

ODD = "It's 5 % of [a:b] \\ \"c\" -d $HOME `e` | <f> & {g} ~ ^"


def option(*names, **fields):
    return {"names": list(names), "topic": "Options", "description": "What it does", "value": "", "default": "",
            "required": False, "repeats": False, "takes_several": False, "delimiter": "", "excludes": [], "needs": [],
            "environment": ""} | fields


def command(name, *options, **fields):
    return {"name": name, "description": "Does it", "footer": "", "options": list(options), "commands": []} | fields


def tool():
    """A fresh one each time, to be changed."""
    return command("fusegate", option("-h", "--help"), commands=[
        command("gate", option("run", value="PATH", takes_several=True, required=True),
                option("--odd", description=ODD, topic=ODD, value="TEXT"),
                option("--count", value="INT:INT in [1 - 9]", default="5", environment="COUNT", excludes=["--odd"]),
                option("--sort", value="TEXT:{cuda,cpu}"), option("--sizes", value="INT", delimiter=",", takes_several=True),
                description=".starts as a request does. 'So does this. " + ODD,
                footer="Everything after -- is passed on to the benchmark program.\n\nExample:\n  fusegate gate 'a b' --odd c\\d"),
        command("trace-diff", option("a", value="FILE"), option("b", value="FOLDER"))])


def bench():
    return command("fusegate_bench", option("--suite", value="SUITE"), option("--device", value="{auto,cpu}"))


def text(program):
    return json.dumps(program)
