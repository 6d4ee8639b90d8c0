// Adds the missing check runs to a commit. Idempotent (I18).
import type { CommitSha } from '../pull-request/ids.ts'
import type { CheckRunContent, Forge } from '../ports/forge.ts'

/** The check runs in `runs` that are not in `present` with the same content. */
export function findMissingCheckRuns(
  runs: readonly CheckRunContent[],
  present: readonly Pick<CheckRunContent, 'name' | 'digest'>[],
): readonly CheckRunContent[] {
  const shown = new Map(present.map(({ name, digest }) => [name, digest]))
  return runs.filter(({ name, digest }) => shown.get(name) !== digest)
}

/** Rejects with a ForgeError. */
export async function publishMissingCheckRuns(
  forge: Forge,
  head: CommitSha,
  runs: readonly CheckRunContent[],
): Promise<void> {
  const present = await forge.readOwnChecks(head)
  const missing = findMissingCheckRuns(runs, present)
  if (missing.length > 0) await forge.perform({ kind: 'put-checks', head, runs: missing, present })
}
