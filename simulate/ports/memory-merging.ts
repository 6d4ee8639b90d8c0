// The Merging port in memory: GitHub's own merge, temporary branches, and what became of a pull request. Signed commits and the
// merge queue are not modelled.
import type { MergePermit } from '../../src/gate/merge-permit.ts'
import type { Merging } from '../../src/ports/merging.ts'
import type { Server } from '../world/server.ts'
import type { Turn } from './memory-repository.ts'

export interface MergingHooks {
  /** GitHub is about to merge. */
  readonly onMerging: (permit: MergePermit) => void
}

export function openMemoryMerging(server: Server, turn: Turn, { onMerging }: MergingHooks): Merging {
  const notModelled = (what: string) => () => Promise.reject(new Error(`${what} is not modelled`))
  return {
    merge: (permit, method, { title, body }) =>
      turn('merge', `ask GitHub to merge #${permit.landing.pull}`, () => {
        const { pull, head } = permit.landing
        const shown = server.pull(pull)
        if (shown?.head !== head)
          return { kind: 'race', why: 'Head branch was modified. Review and try the merge again.' } as const
        onMerging(permit)
        const refusal = server.mergeByGitHub(pull, method, server.bot, `${title}\n\n${body}`)
        if (refusal === undefined) return { kind: 'done' } as const
        return { kind: 'refused', words: { by: 'rest', status: 405, message: refusal } } as const
      }),
    enqueue: notModelled('the merge queue'),
    dequeue: notModelled('the merge queue'),
    queueRemoval: notModelled('the merge queue'),
    sign: notModelled('signing'),
    moveStaged: notModelled('signing'),
    branchesBelow: (prefix) =>
      turn('github', `list the branches below ${prefix}`, () =>
        [...server.branches.keys()].flatMap((name) => {
          const tip = server.tip(name)
          return name.startsWith(prefix) && tip !== undefined ? [{ name, tip }] : []
        }),
      ),
    outcomeOf: (pull) =>
      turn('github', `read what became of #${pull}`, () => {
        const shown = server.pull(pull)
        if (shown === undefined) return undefined
        const { head, state, merged } = shown
        return { head, isOpen: state === 'open', ...(merged !== undefined && { merged }) }
      }),
    queueOf: () => turn('github', 'read the merge queue', () => []),
  }
}
