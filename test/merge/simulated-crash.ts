// Simulates a process that crashes after any step of a merge.
import type { MergeOptions } from '../../src/merge/merge-types.ts'

export class SimulatedCrashError extends Error {}

/** After `left` calls, including reads, every call fails, even cleanup. */
export function injectSimulatedCrash<Options extends Omit<MergeOptions, 'plan'>>(
  options: Options,
  left: number,
): { options: Options; calls: string[] } {
  const calls: string[] = []
  const wrap = <T extends object>(part: T, name: string): T =>
    Object.fromEntries(
      Object.entries(part).map(([key, value]: [string, unknown]) => [
        key,
        typeof value !== 'function'
          ? value
          : async (...args: unknown[]) => {
              if (calls.length >= left) throw new SimulatedCrashError()
              calls.push(`${name}.${key}`)
              const answer: unknown = await (value as (...args: unknown[]) => unknown).apply(part, args)
              if (calls.length >= left) throw new SimulatedCrashError()
              return answer
            },
      ]),
    ) as T
  const { repository, merging, store, forge } = options
  return {
    calls,
    options: {
      ...options,
      repository: wrap(repository, 'repository'),
      merging: wrap(merging, 'merging'),
      store: wrap(store, 'store'),
      forge: wrap(forge, 'forge'),
    },
  }
}

/** Returns whether a call can change state. */
export function isMutatingCall(call: string): boolean {
  return /\.(?:pushMerge|pushMergeBatch|createStagingBranch|merge|createSignedCommit|moveStagingBranch|deleteStagingBranch|perform|startMerge|finishMerge|acquireLease|putCached|writeState)$/.test(
    call,
  )
}
