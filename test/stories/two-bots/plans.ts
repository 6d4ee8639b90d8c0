// The pull requests that are opened while instances die: what each does, and its allowed outcomes. They are generated
// from a seed. The expected outcome is set here when a pull request is opened, and never read from the bot.
import { addVersionToChannelEnd, addVersionToChannelStart } from '../../../sandbox/demo/catalog-edits.ts'
import { pushCatalogImages, demoRepositoryName } from '../../../sandbox/demo/demo-environment.ts'
import { findBotComment } from '../../../sandbox/demo/story-outcome.ts'
import type { MockPull } from '../../../sandbox/github/github-data.ts'
import type { SeededRandom } from '../../../simulate/seeded-random.ts'
import { getPackageOwner, getCatalogPath, type TwoBotsEnvironment } from './two-bots.ts'

export interface ChaosPullPlan {
  readonly kind: ChaosPlanKind
  readonly packageName: string
  readonly pull: MockPull
  /** Heads that may be merged. */
  readonly goodHeads: Set<string>
  /** `merges`: merged exactly once. `may`: valid only for a moment. `one`: exactly one of its package is merged. */
  readonly ending: 'merges' | 'stays' | 'may' | 'one'
  /** The check that keeps it open, if any, and its message. */
  readonly refusal?: { readonly check: string; readonly says: RegExp }
  /** What its users do later, at a random moment, but not before `sees`. */
  readonly later?: () => Promise<void>
  readonly isReadyForLater?: () => boolean
}

const weightByChaosPlanKind = {
  good: 22,
  rivals: 3,
  outsider: 4,
  'approved outsider': 4,
  'two heads': 3,
  'missing image': 3,
  'turned bad': 3,
  'turned good': 2,
  held: 2,
  'held for a while': 3,
} as const
export type ChaosPlanKind = keyof typeof weightByChaosPlanKind

const countPullsInChaosPlan = (kind: ChaosPlanKind): number => (kind === 'rivals' ? 2 : 1)

/** Creates this many pull requests: each kind by its share, the remainder and the order at random. */
export function pickChaosPlanKinds(count: number, dice: SeededRandom): readonly ChaosPlanKind[] {
  const all: ChaosPlanKind[] = []
  const weighed = Object.entries(weightByChaosPlanKind) as [ChaosPlanKind, number][]
  const whole = weighed.reduce((sum, [kind, share]) => sum + share * countPullsInChaosPlan(kind), 0)
  for (const [kind, share] of weighed)
    for (let made = 0; made < Math.floor((share * count) / whole); made++) all.push(kind)
  for (let left = count - all.reduce((sum, kind) => sum + countPullsInChaosPlan(kind), 0); left > 0;) {
    const kind = dice.pickWeighted(weighed.filter(([one]) => countPullsInChaosPlan(one) <= left))
    all.push(kind)
    left -= countPullsInChaosPlan(kind)
  }
  return all
    .map((kind) => ({ kind, place: dice.next() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ kind }) => kind)
}

/** Opens the pull requests of a kind, in a package that no other plan changes. */
export async function openChaosPlanPulls(
  kind: ChaosPlanKind,
  packageName: string,
  bots: TwoBotsEnvironment,
): Promise<readonly ChaosPullPlan[]> {
  const { github, registry } = bots
  const owner = getPackageOwner(packageName)
  const text = bots.textOf(packageName)
  const path = getCatalogPath(packageName)
  const good = addVersionToChannelStart(text, packageName, '1.2.0', '1.1.0')
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
  const plan = (
    pull: MockPull,
    ending: ChaosPullPlan['ending'],
    more: Partial<ChaosPullPlan> = {},
  ): ChaosPullPlan => ({
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
      return [plan(await open(owner, good), 'merges')]
    case 'rivals': {
      const other = addVersionToChannelEnd(text, packageName, '1.1.1', '1.1.0')
      publish(other, '1.1.1')
      const refusal = { check: 'validation', says: /head/ }
      const first = plan(await open(owner, good), 'one', { refusal })
      return [first, plan(await open(owner, other), 'one', { refusal })]
    }
    case 'outsider':
      return [
        plan(await open('mallory', good), 'stays', {
          refusal: { check: 'ownership', says: new RegExp(owner) },
        }),
      ]
    case 'approved outsider': {
      const pull = await open('mallory', good)
      return [plan(pull, 'merges', { later: async () => void github.review(pull, owner, 'approve') })]
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
      return [plan(pull, 'merges', { goodHeads, later })]
    }
    case 'held':
    case 'held for a while': {
      // A draft isn't merged, so the hold is set before anything could be merged.
      const pull = await open(owner, good, true)
      github.comment(pull, owner, '/hold')
      await github.draft(pull, false)
      if (kind === 'held') return [plan(pull, 'stays')]
      return [
        plan(pull, 'merges', {
          later: async () => void github.comment(pull, owner, '/unhold'),
          // It lifts the hold that was shown.
          isReadyForLater: () => isPullReportedOnHold(pull),
        }),
      ]
    }
  }
}

/** Whether the bot's comment reports a hold, which an `/unhold` can follow. */
export function isPullReportedOnHold(pull: MockPull): boolean {
  const comment = pull.comments.find(({ body }) => body === findBotComment(pull))
  if (comment === undefined || !/Comment `\/unhold`/.test(comment.body)) return false
  // GitHub's times are whole seconds: an answer within the same second can't be recognized. No user types that fast.
  return Date.now() - Date.parse(comment.updatedAt) > 2000
}
