import { readFile, readdir } from 'node:fs/promises'

/**
 * Bytes of memory that this process and all processes below it use. A page that several processes share is divided among them
 * (Linux: `Pss`). Undefined on other systems.
 */
export async function readProcessTreeMemory(pid = process.pid): Promise<number | undefined> {
  const own = await readProportionalSetSize(pid)
  if (own === undefined) return undefined
  const children = await listChildProcesses(pid)
  const sizes = await Promise.all(children.map(readProcessTreeMemory))
  return sizes.reduce<number>((sum, bytes = 0) => sum + bytes, own)
}

async function readProportionalSetSize(pid: number): Promise<number | undefined> {
  try {
    const kilobytes = /^Pss:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
  } catch {
    // The process has ended, or the system has no such file.
    return undefined
  }
}

/** A child belongs to the thread that started it. */
async function listChildProcesses(pid: number): Promise<readonly number[]> {
  try {
    const threads = await readdir(`/proc/${pid}/task`)
    const lists = await Promise.all(
      threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')),
    )
    return lists.flatMap((list) => list.split(' ').flatMap((id) => (id === '' ? [] : [Number(id)])))
  } catch {
    return []
  }
}
