// Puts the missing check runs on a commit. Repeating it changes nothing (I18).
import type { CommitSha } from '../change/ids.ts'
import type { CheckRun, Forge } from '../ports/forge.ts'

/** Those of `runs` that aren't in `present` with the same content. */
export function missingChecks(
  runs: readonly CheckRun[],
  present: readonly Pick<CheckRun, 'name' | 'digest'>[],
): readonly CheckRun[] {
  const shown = new Map(present.map(({ name, digest }) => [name, digest]))
  return runs.filter(({ name, digest }) => shown.get(name) !== digest)
}

/** Rejects with a ForgeError. */
export async function putChecks(forge: Forge, head: CommitSha, runs: readonly CheckRun[]): Promise<void> {
  const present = await forge.checksOn(head)
  const missing = missingChecks(runs, present)
  if (missing.length > 0) await forge.perform({ kind: 'put-checks', head, runs: missing, present })
}
