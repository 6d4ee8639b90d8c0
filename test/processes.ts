// Reads processes from /proc (Linux): their parents, command lines, memory, and file descriptors.
import { readdirSync, readFileSync } from 'node:fs'

/** A process and its running descendants. */
export function listProcessTree(root: number): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? findRunningParentProcess(Number(name)) : undefined
    if (parent !== undefined) parents.set(Number(name), parent)
  }
  const found = parents.has(root) ? [root] : []
  for (const one of found) for (const [id, parent] of parents) if (parent === one) found.push(id)
  return found
}

/** The running processes of a script that `parent` started, oldest first. */
export function listChildProcesses(script: string, parent = process.pid): number[] {
  return readProcFile(parent, `task/${parent}/children`)
    .split(' ')
    .filter((id) => id !== '')
    .map(Number)
    .filter((id) => isProcessAlive(id) && readProcFile(id, 'cmdline').includes(script))
}

export function isProcessAlive(id: number): boolean {
  return findRunningParentProcess(id) !== undefined
}

/** The program and its arguments, for messages. */
export function readProcessCommandLine(id: number): string {
  return readProcFile(id, 'cmdline').replaceAll('\0', ' ').trim()
}

export const readResidentMemoryBytes = (id: number) => readStatusBytes(id, 'VmRSS')
export const readPeakMemoryBytes = (id: number) => readStatusBytes(id, 'VmHWM')

function readStatusBytes(id: number, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readProcFile(id, 'status'))?.[1] ?? 0) * 1024
}

export function countOpenFileDescriptors(id: number): number {
  try {
    return readdirSync(`/proc/${id}/fd`).length
  } catch {
    return 0
  }
}

function findRunningParentProcess(id: number): number | undefined {
  // `pid (name) state parent ...`, in which the name can contain any character.
  const [state = 'X', parent = ''] = readProcFile(id, 'stat').split(') ').at(-1)?.split(' ') ?? []
  return state === '' || state === 'Z' || state === 'X' ? undefined : Number(parent)
}

export function readProcFile(id: number, what: string): string {
  try {
    return readFileSync(`/proc/${id}/${what}`, 'utf8')
  } catch {
    return ''
  }
}
