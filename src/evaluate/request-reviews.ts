// Requests a review, once each, from people who can unblock a pull request.
import { z } from 'zod'
import { collectUnblockingPeople } from '../policy/decide.ts'
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import type { PullVerdict } from '../policy/verdict.ts'
import { ForgeError } from '../adapters/github/forge-error.ts'
import { defineStateNamespace, type StateStore } from '../ports/state.ts'
import type { JobContext } from '../jobs/job-context.ts'

/** Requests to more people tend to be ignored by all. */
const maxRequestedReviewers = 5

const reviewerLoginsSchema = z.array(z.string())
const requestedReviewersStateNamespace = defineStateNamespace<readonly string[]>('requested reviews', {
  version: 1,
  read: (stored) => reviewerLoginsSchema.safeParse(stored).data,
})

export async function requestReviews(
  verdict: PullVerdict,
  snapshot: PullSnapshot,
  { forge, app }: JobContext<StateStore>,
): Promise<void> {
  const author = snapshot.author?.login.toLowerCase()
  // Approvals cannot resolve blocking findings, so do not ask for them yet.
  if (verdict.kind === 'blocked') return
  // Exclude people who already requested changes; the comment explains how to confirm or merge.
  const waiting = verdict.waiting.filter(({ how, isAgreed }) => isAgreed !== true && how !== 'withdraws')
  const people = collectUnblockingPeople(waiting).filter((name) => name.toLowerCase() !== author)
  if (people.length === 0) return
  const key = String(snapshot.pull)
  const alreadyRequested = new Set(
    await app.store.readState(requestedReviewersStateNamespace, forge.repository, key),
  )
  const open = people.slice(0, maxRequestedReviewers).filter((name) => !alreadyRequested.has(name))
  if (open.length === 0) return
  const organization = `${forge.repository.owner.toLowerCase()}/`
  try {
    await forge.perform({
      kind: 'request-reviews',
      pull: snapshot.pull,
      users: open.filter((name) => !name.includes('/')),
      teams: open
        .filter((name) => name.toLowerCase().startsWith(organization))
        .map((name) => name.slice(organization.length)),
    })
  } catch (error) {
    // GitHub rejects reviewers who are not collaborators; the comment mentions them instead.
    if (!(error instanceof ForgeError) || error.code !== 'rejected') throw error
  }
  await app.store.writeState(
    requestedReviewersStateNamespace,
    forge.repository,
    new Map([[key, [...alreadyRequested, ...open]]]),
  )
}
