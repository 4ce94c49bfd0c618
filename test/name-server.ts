import { createSocket } from "node:dgram";
import { once } from "node:events";

/** A DNS server that runs. */
export type NameServer = {
  port: number;
  /** Names that were asked for, in their order. */
  questions: string[];
  close: () => void;
};

const TYPE_A = 1;
const HEADER_BYTES = 12;

/** A DNS server on the loopback address. `answer`: the IPv4 addresses of a name when it is asked for the nth time. */
export async function serveNames(answer: (name: string, nth: number) => string[]): Promise<NameServer> {
  const questions: string[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (message, { port, address }) => {
    const { name, type, end } = readQuestion(message);
    let addresses: string[] = [];
    if (type === TYPE_A) {
      questions.push(name);
      addresses = answer(name, questions.filter((asked) => asked === name).length);
    }
    const header = Buffer.from(message.subarray(0, HEADER_BYTES));
    // An answer, recursion available, no error; one question, so many answers, nothing more.
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(addresses.length, 6);
    header.writeUInt32BE(0, 8);
    socket.send(
      Buffer.concat([header, message.subarray(HEADER_BYTES, end), ...addresses.map(toRecord)]),
      port,
      address,
    );
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return { port: socket.address().port, questions, close: () => void socket.close() };
}

function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  while (message[at] !== 0) {
    const length = message[at]!;
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

/** An address that is forgotten at once, of the name in the question. Source: RFC 1035 */
function toRecord(address: string): Buffer {
  const head = Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4]);
  return Buffer.concat([head, Buffer.from(address.split(".").map(Number))]);
}
