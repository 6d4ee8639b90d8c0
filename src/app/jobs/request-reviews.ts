// Asks those who can unblock a pull request for their review, each of them once.
import { z } from 'zod'
import { unblockers } from '../../gate/decide.ts'
import type { Snapshot } from '../../change/snapshot.ts'
import type { Verdict } from '../../gate/verdict.ts'
import { ForgeError } from '../../github/forge-error.ts'
import { defineState, type State } from '../../ports/state.ts'
import type { JobContext } from './job-context.ts'

/** More people than this are not asked: a crowd feels addressed less than a few. */
const maxPeople = 5

const names = z.array(z.string())
/** Who was asked, by pull request. */
const requestedReviews = defineState<readonly string[]>('requested reviews', {
  version: 1,
  read: (stored) => names.safeParse(stored).data,
})

export async function requestReviews(
  verdict: Verdict,
  snapshot: Snapshot,
  { forge, app }: JobContext<State>,
): Promise<void> {
  const author = snapshot.author?.login.toLowerCase()
  // What the author must mend first no approval lifts: nobody is asked for one before.
  if (verdict.kind === 'blocked') return
  // Whoever wants changes has said so, and who is asked to confirm or to merge is told how in the comment.
  const waiting = verdict.waiting.filter(({ how, isAgreed }) => isAgreed !== true && how !== 'withdraws')
  const people = unblockers(waiting).filter((name) => name.toLowerCase() !== author)
  if (people.length === 0) return
  const key = String(snapshot.pull)
  const asked = new Set(await app.store.readState(requestedReviews, forge.repository, key))
  const open = people.slice(0, maxPeople).filter((name) => !asked.has(name))
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
    // GitHub refuses people who are no collaborators: they are mentioned in the comment, which has to do.
    if (!(error instanceof ForgeError) || error.code !== 'rejected') throw error
  }
  await app.store.writeState(requestedReviews, forge.repository, new Map([[key, [...asked, ...open]]]))
}
