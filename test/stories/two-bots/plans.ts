// The pull requests that are opened while instances die: what each does, and what may become of it. Made up by dice, so that
// a seed says it all; what is right is said here, where it is opened, and nowhere asks the bot.
import { appendChannelEntry, prependChannelEntry } from '../../../sandbox/demo/catalog-edits.ts'
import { pushCatalogImages, demoRepositoryName } from '../../../sandbox/demo/demo-environment.ts'
import { findBotComment } from '../../../sandbox/demo/story-outcome.ts'
import type { MockPull } from '../../../sandbox/github/github-data.ts'
import type { SeededRandom } from '../../../simulate/seeded-random.ts'
import { getPackageOwner, getCatalogPath, type TwoBots } from './two-bots.ts'

export interface ChaosPlan {
  readonly kind: PlanKind
  readonly packageName: string
  readonly pull: MockPull
  /** Heads that may land. */
  readonly goodHeads: Set<string>
  /** `lands`: exactly once. `may`: it was good for a moment. `one`: of those of its package exactly one lands. */
  readonly ending: 'lands' | 'stays' | 'may' | 'one'
  /** The check that keeps it open, where it does, and its words. */
  readonly refusal?: { readonly check: string; readonly says: RegExp }
  /** What its people do later, at a moment that dice choose: not before `sees`, which they go by. */
  readonly later?: () => Promise<void>
  readonly isReadyForLater?: () => boolean
}

const shareByKind = {
  good: 22,
  rivals: 3,
  stranger: 4,
  'approved stranger': 4,
  'two heads': 3,
  'missing image': 3,
  'turned bad': 3,
  'turned good': 2,
  held: 2,
  'held for a while': 3,
} as const
export type PlanKind = keyof typeof shareByKind

const countPulls = (kind: PlanKind): number => (kind === 'rivals' ? 2 : 1)

/** What makes so many pull requests: of each kind its share, what is left over and the order as dice say. */
export function pickPlanKinds(count: number, dice: SeededRandom): readonly PlanKind[] {
  const all: PlanKind[] = []
  const weighed = Object.entries(shareByKind) as [PlanKind, number][]
  const whole = weighed.reduce((sum, [kind, share]) => sum + share * countPulls(kind), 0)
  for (const [kind, share] of weighed)
    for (let made = 0; made < Math.floor((share * count) / whole); made++) all.push(kind)
  for (let left = count - all.reduce((sum, kind) => sum + countPulls(kind), 0); left > 0;) {
    const kind = dice.pickWeighted(weighed.filter(([one]) => countPulls(one) <= left))
    all.push(kind)
    left -= countPulls(kind)
  }
  return all
    .map((kind) => ({ kind, place: dice.next() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ kind }) => kind)
}

/** Opens what a kind is about, in a package that nobody else changes. */
export async function openPlannedPulls(
  kind: PlanKind,
  packageName: string,
  bots: TwoBots,
): Promise<readonly ChaosPlan[]> {
  const { github, registry } = bots
  const owner = getPackageOwner(packageName)
  const text = bots.textOf(packageName)
  const path = getCatalogPath(packageName)
  const good = prependChannelEntry(text, packageName, '1.2.0', '1.1.0')
  const twoHeads = good.replace(`replaces: ${packageName}.v1.1.0`, `replaces: ${packageName}.v1.0.0`)
  const publish = (of: string, version: string) =>
    pushCatalogImages(registry, of, (bundle) => bundle === `${packageName}.v${version}`)
  const open = (author: string, content: string, draft = false) =>
    github.openPull({
      repository: demoRepositoryName,
      author,
      title: `${packageName}, by ${kind}`,
      changes: { [path]: content },
      draft,
    })
  const plan = (pull: MockPull, ending: ChaosPlan['ending'], more: Partial<ChaosPlan> = {}): ChaosPlan => ({
    kind,
    packageName,
    pull,
    ending,
    goodHeads: new Set(ending === 'stays' ? [] : [pull.headSha]),
    ...more,
  })
  if (kind !== 'missing image') publish(good, '1.2.0')
  switch (kind) {
    case 'good':
      return [plan(await open(owner, good), 'lands')]
    case 'rivals': {
      const other = appendChannelEntry(text, packageName, '1.1.1', '1.1.0')
      publish(other, '1.1.1')
      const refusal = { check: 'validation', says: /head/ }
      const first = plan(await open(owner, good), 'one', { refusal })
      return [first, plan(await open(owner, other), 'one', { refusal })]
    }
    case 'stranger':
      return [
        plan(await open('mallory', good), 'stays', {
          refusal: { check: 'ownership', says: new RegExp(owner) },
        }),
      ]
    case 'approved stranger': {
      const pull = await open('mallory', good)
      return [plan(pull, 'lands', { later: async () => void github.review(pull, owner, 'approve') })]
    }
    case 'two heads':
      return [plan(await open(owner, twoHeads), 'stays', { refusal: { check: 'validation', says: /head/ } })]
    case 'missing image':
      return [
        plan(await open(owner, good), 'stays', {
          refusal: { check: 'images', says: new RegExp(`${packageName}-bundle`) },
        }),
      ]
    case 'turned bad': {
      const pull = await open(owner, good)
      return [
        plan(pull, 'may', {
          refusal: { check: 'validation', says: /head/ },
          later: async () => void (await github.pushToPull(pull, { [path]: twoHeads })),
        }),
      ]
    }
    case 'turned good': {
      const goodHeads = new Set<string>()
      const pull = await open(owner, twoHeads)
      const later = async () => void goodHeads.add(await github.pushToPull(pull, { [path]: good }))
      return [plan(pull, 'lands', { goodHeads, later })]
    }
    case 'held':
    case 'held for a while': {
      // Nobody merges a draft: the hold is there before anything could be merged.
      const pull = await open(owner, good, true)
      github.comment(pull, owner, '/hold')
      await github.draft(pull, false)
      if (kind === 'held') return [plan(pull, 'stays')]
      return [
        plan(pull, 'lands', {
          later: async () => void github.comment(pull, owner, '/unhold'),
          // It lifts the hold from what was shown.
          isReadyForLater: () => isShownOnHold(pull),
        }),
      ]
    }
  }
}

/** Whether the bot's comment tells that somebody holds it, which is what an `/unhold` is an answer to. */
export function isShownOnHold(pull: MockPull): boolean {
  const comment = pull.comments.find(({ body }) => body === findBotComment(pull))
  if (comment === undefined || !/Comment `\/unhold`/.test(comment.body)) return false
  // GitHub's times are whole seconds: what comes in the same one is not known to be an answer. Nobody types so fast.
  return Date.now() - Date.parse(comment.updatedAt) > 2000
}
