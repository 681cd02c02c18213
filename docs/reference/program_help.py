"""What --help of a program or of one of its commands lists."""

import re
import subprocess


class Help:
    def __init__(self, *call):
        text = subprocess.run([*call, "--help"], capture_output=True, text=True, check=True).stdout
        self.name = str(call[-1]).rpartition("/")[2]
        self.flags = {name for names in re.findall(r"^ +(-[^ \n]+)", text, re.MULTILINE) for name in names.split(",")}
        listed = text.partition("\nSubcommands:\n")[2].partition("\n\n")[0]
        self.commands = {name: Help(*call, name) for name in re.findall(r"^  ([a-z][\w-]*)", listed, re.MULTILINE)}
