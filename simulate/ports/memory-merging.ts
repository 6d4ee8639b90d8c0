// The in-memory Merging port: GitHub's own merge, temporary branches, and the final state of a pull request. Signed
// commits and the merge queue are not modeled.
import type { MergePermit } from '../../src/policy/merge-permit.ts'
import type { MergeApi } from '../../src/ports/merge-api.ts'
import type { SimulatedGitHub } from '../world/simulated-github.ts'
import type { SimulatedCallScheduler } from './memory-repository.ts'

export interface InMemoryMergeApiHooks {
  /** GitHub is about to merge. */
  readonly onMerging: (permit: MergePermit) => void
}

export function createInMemoryMergeApi(
  server: SimulatedGitHub,
  schedule: SimulatedCallScheduler,
  { onMerging }: InMemoryMergeApiHooks,
): MergeApi {
  const notModeled = (operation: string) => () => Promise.reject(new Error(`${operation} is not modelled`))
  return {
    merge: (permit, method, { title, body }) =>
      schedule('merge', `ask GitHub to merge #${permit.merge.pull}`, () => {
        const { pull, head } = permit.merge
        const shown = server.pull(pull)
        if (shown?.head !== head)
          return { kind: 'race', why: 'Head branch was modified. Review and try the merge again.' } as const
        onMerging(permit)
        const rejection = server.mergeByGitHub(pull, method, server.bot, `${title}\n\n${body}`)
        if (rejection === undefined) return { kind: 'done' } as const
        return { kind: 'refused', rejection: { by: 'rest', status: 405, message: rejection } } as const
      }),
    enqueue: notModeled('the merge queue'),
    dequeue: notModeled('the merge queue'),
    readQueueRemoval: notModeled('the merge queue'),
    createSignedCommit: notModeled('signing'),
    moveStagingBranch: notModeled('signing'),
    listBranchesWithPrefix: (prefix) =>
      schedule('github', `list the branches below ${prefix}`, () =>
        [...server.branches.keys()].flatMap((name) => {
          const tip = server.tip(name)
          return name.startsWith(prefix) && tip !== undefined ? [{ name, tip }] : []
        }),
      ),
    readMergeState: (pull) =>
      schedule('github', `read what became of #${pull}`, () => {
        const shown = server.pull(pull)
        if (shown === undefined) return undefined
        const { head, state, merged } = shown
        return { head, isOpen: state === 'open', ...(merged !== undefined && { merged }) }
      }),
    readMergeQueue: () => schedule('github', 'read the merge queue', () => []),
  }
}
