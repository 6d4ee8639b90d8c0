// The embedded databases' processes, as the system sees them (Linux).
import { readdirSync } from 'node:fs'
import { readProcFile } from '../../stories/two-bots/processes.ts'

/** The process ids of the databases that `parent` started and that live. */
export function listDatabaseProcesses(parent = process.pid): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((id) => {
      const state = readProcessState(id)
      return (
        state?.parent === parent && state.alive && readProcFile(id, 'cmdline').includes('embedded-process')
      )
    })
}

export function isProcessAlive(id: number): boolean {
  return readProcessState(id)?.alive ?? false
}

function readProcessState(id: number): { alive: boolean; parent: number } | undefined {
  // `pid (name) state parent ...`; the name may hold anything.
  const [state = '', parent = ''] = readProcFile(id, 'stat').split(') ').at(-1)?.split(' ') ?? []
  return state === '' ? undefined : { alive: state !== 'Z' && state !== 'X', parent: Number(parent) }
}
