// One process per data folder: two embedded databases in one folder would destroy it. The lock is a socket that its
// holder listens on: the system gives it up with the process, however that ends, and nobody has to guess from a
// process id whether a lock is stale. It guards one machine; a network share needs a real Postgres anyway.
import { createHash } from 'node:crypto'
import { realpath, rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StoreError } from './store-error.ts'

/** A socket's path has at most 107 bytes on Linux, 103 on macOS. */
const longestPath = 100

/** Resolves with the function that gives the folder up. Rejects with StoreError `in-use` when a process has it. */
export async function lockFolder(directory: string): Promise<() => Promise<void>> {
  const path = await socketPath(directory)
  for (let attempt = 0; attempt < 3; attempt++) {
    const server = await listen(path)
    if (server)
      return () =>
        new Promise((resolve) => {
          // Node removes the socket's file with it.
          server.close(() => resolve())
        })
    if (await answers(path)) break
    // Its holder died without closing. Two starting at the same moment may both come here; whoever removes
    // last listens, and the other one's next look finds that.
    await rm(path, { force: true })
  }
  throw new StoreError('in-use', `another process uses ${directory}`)
}

async function socketPath(directory: string): Promise<string> {
  const real = await realpath(directory)
  const inside = join(real, 'lock.sock')
  if (Buffer.byteLength(inside) <= longestPath) return inside
  return join(tmpdir(), `catalog-bot-${createHash('sha256').update(real).digest('hex').slice(0, 32)}.sock`)
}

function listen(path: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.unref()
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE'
        ? resolve(undefined)
        : reject(new StoreError('failed', `the data folder cannot be locked: ${error.message}`, error)),
    )
    server.listen(path, () => resolve(server))
  })
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
