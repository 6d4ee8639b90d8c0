// Creates a temporary folder in memory if there is enough. Tests create and remove tens of thousands of small files,
// which takes a quarter of their time on a disk. It is plain JavaScript without packages, because it also runs before
// `npm ci`. Usage: node scripts/memory-folder.mjs PID GIGABYTES. Prints the folder, which the process must remove, or
// an empty line.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { freemem } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
const tmpfs = 0x01021994
const prefix = 'catalog-bot-'

/**
 * @returns {string | undefined} a new folder of the process; undefined if fewer gigabytes are free, or nothing may be run from there
 */
export function memoryFolder(owner = process.pid, gigabytes = 6) {
  const room = gigabytes * 1024 ** 3
  let folder
  try {
    const { type, bavail, bsize } = statfsSync(memory)
    if (type !== tmpfs || bavail * bsize < room || freemem() < room) return undefined
    removeLeft()
    folder = mkdtempSync(join(memory, `${prefix}${owner}-`))
    // Postgres runs under a separate account, which needs access to its data.
    chmodSync(folder, 0o711)
    const program = join(folder, 'program')
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
    execFileSync(program)
    rmSync(program)
    return folder
  } catch {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    return undefined
  }
}

/** Removes the folders of killed processes. Otherwise they remain until the machine restarts. */
function removeLeft() {
  for (const name of readdirSync(memory)) {
    const [, pid] = /^catalog-bot-(\d+)-/.exec(name) ?? []
    if (pid !== undefined && !isAlive(Number(pid)))
      rmSync(join(memory, name), { recursive: true, force: true })
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch ({ code }) {
    return code !== 'ESRCH'
  }
}

if (process.argv[1] === import.meta.filename)
  console.log(memoryFolder(...process.argv.slice(2).map(Number)) ?? '')
