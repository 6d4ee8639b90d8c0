// Deletes objects of killed trials, found only by the trial label and its expiry time.
import { abandonedLooks, abandonedTrials } from '../checks/install/trial/clean-up.ts'
import { cleanUp, lookAround, type RunOptions } from './run-trial.ts'

export interface Swept {
  readonly id: string
  readonly leftovers: readonly string[]
}

/** `alive`: ids of our running trials, which are kept even after they expire. */
export async function sweepCluster(
  options: RunOptions,
  alive: ReadonlySet<string> = new Set(),
): Promise<readonly Swept[]> {
  const seen = await lookAround(options.cluster, abandonedLooks, [])
  const swept: Swept[] = []
  for (const id of abandonedTrials(seen, options.clock.now())) {
    if (alive.has(id)) continue
    const { leftovers } = await cleanUp(id, options)
    swept.push({ id, leftovers })
  }
  return swept
}
