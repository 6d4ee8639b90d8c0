import type { CommitSha } from '../pull-request/ids.ts'
import type { PublishedImageView, PublicationView } from '../report/publish-check.ts'
import type { PublishFailureView } from '../report/publish-issue.ts'
import type { Publication, PublicationPlanProblem } from './plan-publications.ts'
import type { PublicationState } from './publication-state.ts'

export interface PublicationStatus {
  readonly publication: Publication
  readonly state: PublicationState
  readonly commit: CommitSha
}

/** The commit tried last; its check reports the publication. */
export function getLastAttemptedCommit({
  state: { failure, pinned, current },
  commit,
}: PublicationStatus): CommitSha {
  return failure?.commit ?? pinned?.commit ?? current?.commit ?? commit
}

export function toPublishedImageView(status: PublicationStatus): PublishedImageView {
  const { catalog, image, tags } = status.publication
  return { root: catalog.root, image, tags, state: toPublicationStateView(status.state) }
}

export function toPublicationStateView({ current, failure, pinned }: PublicationState): PublicationView {
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
export function toPublicationFailureViews(
  statuses: readonly PublicationStatus[],
  problems: readonly PublicationPlanProblem[],
  since: (problem: PublicationPlanProblem) => number,
): readonly PublishFailureView[] {
  return [
    ...problems.map((problem): PublishFailureView => ({
      ...problem,
      since: formatUtcMinute(since(problem)),
      kind: 'not-published',
    })),
    ...statuses.flatMap(({ publication, state: { failure, strayed } }): readonly PublishFailureView[] => {
      const { catalog, image, tags } = publication
      const about = { root: catalog.root, image }
      const failed: readonly PublishFailureView[] =
        failure?.isLasting === true
          ? [
              {
                ...about,
                tags,
                commit: failure.commit,
                since: formatUtcMinute(failure.since),
                why: failure.why,
                kind: 'not-published',
              },
            ]
          : []
      if (strayed === undefined) return failed
      const { tag, to } = strayed
      const why = to === null ? 'the tag was removed' : `the tag now points to ${to}`
      return [...failed, { ...about, tags: [tag], since: formatUtcMinute(strayed.since), why, kind: 'moved' }]
    }),
  ]
}

const formatUtcMinute = (milliseconds: number): string =>
  `${new Date(milliseconds).toISOString().slice(0, 16)}Z`
