/** Loaded before a process of a test: its resolvers ask the server on loopback port NAME_SERVER_PORT. */
import dns from "node:dns/promises";
import { syncBuiltinESMExports } from "node:module";

const { Resolver } = dns;
dns.Resolver = class extends Resolver {
  constructor(options?: ConstructorParameters<typeof Resolver>[0]) {
    super(options);
    this.setServers([`127.0.0.1:${process.env["NAME_SERVER_PORT"]}`]);
  }
};
syncBuiltinESMExports();
