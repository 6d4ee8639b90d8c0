import { createServer, type AddressInfo } from 'node:net'

/** A TCP port of 127.0.0.1 that no server uses at the moment. */
export async function findFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
