// A separate process that uses a store and reports its actions on standard output. A test kills it.
import { createInterface } from 'node:readline'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { openStore } from '../../../src/adapters/store/store.ts'
import { realTimeClock, createPullJob } from './sample-records.ts'

export interface StoreLocation {
  readonly databaseUrl?: string
  readonly dataDirectory?: string
}

export interface StoreProcess {
  readonly id: number
  /** What it has reported so far, line by line. */
  readonly outputLines: string[]
  kill(): Promise<void>
}

/** `accept`: accepts delivery after delivery and reports each. `hold`: takes a lease and works on jobs forever. */
export function startStoreProcess(
  what: 'accept' | 'hold',
  location: StoreLocation,
  name: string,
): StoreProcess {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'child.ts'), what, JSON.stringify(location), name],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const outputLines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => outputLines.push(line))
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  return {
    id: child.pid ?? 0,
    outputLines,
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

if (process.argv[1] === import.meta.filename) {
  const [, , what = '', place = '{}', name = ''] = process.argv
  const store = await openStore({ ...(JSON.parse(place) as StoreLocation), clock: realTimeClock })
  const of = { owner: 'owner', name }
  if (what === 'accept')
    for (let at = 1; ; at++) {
      const guid = `${name} ${at}`
      await store.accept({ guid, event: 'push', body: Buffer.alloc(5000, 'x') }, [createPullJob(at, of)])
      console.log(guid)
    }
  const lease = await store.acquireLease(`lease ${name}`, 5)
  console.log(`fence ${lease?.fence ?? 'none'}`)
  await store.work(async (job) => {
    console.log(`begun ${job.kind === 'pull' ? job.pull : job.kind}`)
    await new Promise((resolve) => setTimeout(resolve, 3600_000))
  }, 4)
}
