// Landing by GitHub's merge queue: the pull request is put into it with the head that was validated, and the intent stays
// open until the queue has merged it or let it go. What the queue makes of it is judged as a group (app/jobs/judge-group.ts).
import type { LandingMethod } from '../gate/landing-method.ts'
import { crashPoint } from './crash-point.ts'
import type { Acted, Prepared, Step } from './ready.ts'

type Queue = Extract<LandingMethod, { kind: 'queue' }>

export async function prepareQueue(step: Step, method: Queue): Promise<Prepared> {
  return { kind: 'ready', method, commit: step.permit.landing.commit, act: () => enqueue(step) }
}

async function enqueue({ permit, options }: Step): Promise<Acted> {
  const answer = await options.merging.enqueue(permit)
  crashPoint('enqueued')
  if (answer.kind !== 'refused') return answer
  const { words } = answer
  const reason = words.by === 'rest' ? words.message : words.errors.map(({ message }) => message).join(' ')
  return { kind: 'refused', reason, words }
}
