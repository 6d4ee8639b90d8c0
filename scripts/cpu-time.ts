// The processor time of this process and its child processes, both completed and running. Only Linux reports it for
// every process. Elsewhere it covers only this process.
import { readdirSync, readFileSync } from 'node:fs'

/** In milliseconds. Times of other processes have a resolution of 10 ms. */
export function readCpuTimeMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000 + getWaitedChildrenCpuMs('self') + sumDescendantsCpuMs('self')
}

/** Of another process and its child processes. */
export function readProcessTreeCpuTimeMs(pid: number): number {
  return getOwnCpuMs(`${pid}`) + getWaitedChildrenCpuMs(`${pid}`) + sumDescendantsCpuMs(`${pid}`)
}

/** The fields of `/proc/<pid>/stat` after the name, from the third on. The name can contain anything. */
function readProcStat(pid: string): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}

/** A tick is a hundredth of a second on every Linux that Node runs on. */
const clockTickMs = 10

const sumCpuFieldsMs = (pid: string, from: number): number => {
  const its = readProcStat(pid)
  return clockTickMs * (Number(its[from] ?? 0) + Number(its[from + 1] ?? 0))
}
const getOwnCpuMs = (pid: string) => sumCpuFieldsMs(pid, 11)
const getWaitedChildrenCpuMs = (pid: string) => sumCpuFieldsMs(pid, 13)

function sumDescendantsCpuMs(pid: string): number {
  let total = 0
  for (const child of listChildPids(pid))
    total += getOwnCpuMs(child) + getWaitedChildrenCpuMs(child) + sumDescendantsCpuMs(child)
  return total
}

function listChildPids(pid: string): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' ').filter(Boolean),
    )
  } catch {
    return []
  }
}
