// A temporary folder in memory, where there is room for one: tests make and remove tens of thousands of small files, and a disk
// takes a quarter of their time for that. Plain JavaScript without packages: it runs before `npm ci`, too.
// usage: node scripts/memory-folder.mjs PID; prints the folder, which is the process's to remove, or an empty line
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { freemem } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
const tmpfs = 0x01021994
/** Bytes that must be free: opm is built there, in CI, and takes two thirds of this. */
const room = 6 * 1024 ** 3
const prefix = 'catalog-bot-'

/** @returns {string | undefined} a new folder of the process; undefined where memory is short, or nothing may be run from there */
export function memoryFolder(owner = process.pid) {
  let folder
  try {
    const { type, bavail, bsize } = statfsSync(memory)
    if (type !== tmpfs || bavail * bsize < room || freemem() < room) return undefined
    removeLeft()
    folder = mkdtempSync(join(memory, `${prefix}${owner}-`))
    // Postgres runs as an account of its own, which has to get to its data.
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

/** Of processes that were killed: nobody else removes them before the machine is started again. */
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

if (process.argv[1] === import.meta.filename) console.log(memoryFolder(Number(process.argv[2])) ?? '')
