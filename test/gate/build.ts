// Builders for gate tests: everything is in order unless a test says otherwise.
import { commitSha, pullNumber, treeSha, userId } from '../../src/change/ids.ts'
import type { CheckOutcome } from '../../src/checks/check.ts'
import type { Snapshot } from '../../src/change/snapshot.ts'
import { checkIds, checks } from '../../src/findings/checks.ts'
import { defaultConfig } from '../../src/config/config.ts'
import type { GateInput } from '../../src/gate/decide.ts'
import type { LandingStop } from '../../src/gate/landing-stop.ts'

export const sha = (digit: string) => digit.repeat(40)

export function aSnapshot(differences: Partial<Snapshot> = {}): Snapshot {
  return {
    repository: { owner: 'acme', name: 'catalog' },
    pull: pullNumber(7),
    state: 'open',
    draft: false,
    title: 'Update foo',
    author: { id: userId(1001), login: 'alice', kind: 'user' },
    head: commitSha(sha('a')),
    baseRef: 'main',
    base: commitSha(sha('b')),
    headRepository: { owner: 'alice', name: 'catalog' },
    labels: [],
    reviews: [],
    comments: [],
    stacked: false,
    ...differences,
  }
}

export function passed(check: CheckOutcome['check'], differences: Partial<CheckOutcome> = {}): CheckOutcome {
  return { check, findings: [], unanswered: [], waiting: [], summary: 'fine', ...differences }
}

/** These outcomes, and that all other required checks have passed. */
export function outcomesWith(...these: readonly CheckOutcome[]): CheckOutcome[] {
  return checks.flatMap(({ id, demand }) => {
    const given = these.filter(({ check }) => check === id)
    return given.length === 0 && demand === 'required' ? [passed(id)] : given
  })
}

export function aGateInput(differences: Partial<GateInput> = {}): GateInput {
  return {
    snapshot: aSnapshot(),
    config: defaultConfig,
    configDigest: 'default',
    merge: { kind: 'clean', commit: commitSha(sha('c')), tree: treeSha(sha('d')) },
    changedPaths: 1,
    outcomes: checkIds.map((check) => passed(check)),
    ...differences,
  }
}

export function aStop(differences: Partial<LandingStop> = {}): LandingStop {
  return {
    repository: { owner: 'acme', name: 'catalog' },
    branch: 'main',
    kind: 'frozen',
    reason: 'release day',
    by: { kind: 'person', login: 'max', user: userId(7), comment: 1 },
    since: Date.parse('2026-11-22T10:00:30Z'),
    times: 1,
    ...differences,
  }
}
