import type { CommitSha } from '../../../change/ids.ts'
import type { ToldImage, ToldPublication } from '../../../messages/publish-check.ts'
import type { ToldFailure } from '../../../messages/publish-issue.ts'
import type { Publication, PlanProblem } from './plan-publications.ts'
import type { PublicationState } from './publication-state.ts'

export interface Standing {
  readonly publication: Publication
  readonly state: PublicationState
  readonly commit: CommitSha
}

/** The commit tried last; its check reports the publication. */
export function commitOf({ state: { failure, pinned, current }, commit }: Standing): CommitSha {
  return failure?.commit ?? pinned?.commit ?? current?.commit ?? commit
}

export function toldImage(standing: Standing): ToldImage {
  const { catalog, image, tags } = standing.publication
  return { root: catalog.root, image, tags, state: toldState(standing.state) }
}

export function toldState({ current, failure, pinned }: PublicationState): ToldPublication {
  if (failure !== undefined) {
    const { why, attempts, isLasting, isRefused } = failure
    return isRefused
      ? { kind: 'refused', why }
      : { kind: 'failed', why, attempts: isLasting ? 0 : attempts, isLasting }
  }
  if (pinned !== undefined) return { kind: 'rolled-back', digest: pinned.digest, login: pinned.login }
  if (current === undefined) return { kind: 'building' }
  const { digest, unchanged, seconds, size, packages, bundles, rebased, unattested, moved, changeLines } =
    current
  return {
    kind: 'published',
    digest,
    unchanged,
    seconds,
    size,
    packages,
    bundles,
    rebased,
    unattested,
    moved,
    changeLines,
  }
}

/** Failures that maintainers should fix. `since`: when a configuration problem was first seen. */
export function failuresOf(
  standings: readonly Standing[],
  problems: readonly PlanProblem[],
  since: (problem: PlanProblem) => number,
): readonly ToldFailure[] {
  return [
    ...problems.map((problem): ToldFailure => ({
      ...problem,
      since: day(since(problem)),
      kind: 'not-published',
    })),
    ...standings.flatMap(({ publication, state: { failure, strayed } }): readonly ToldFailure[] => {
      const { catalog, image, tags } = publication
      const about = { root: catalog.root, image }
      const failed: readonly ToldFailure[] =
        failure?.isLasting === true
          ? [
              {
                ...about,
                tags,
                commit: failure.commit,
                since: day(failure.since),
                why: failure.why,
                kind: 'not-published',
              },
            ]
          : []
      if (strayed === undefined) return failed
      const { tag, to } = strayed
      const why = to === null ? 'the tag was removed' : `the tag names ${to} now`
      return [...failed, { ...about, tags: [tag], since: day(strayed.since), why, kind: 'moved' }]
    }),
  ]
}

const day = (milliseconds: number): string => `${new Date(milliseconds).toISOString().slice(0, 16)}Z`
