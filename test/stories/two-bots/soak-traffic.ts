// Modest traffic for a soak: a user updates a package every few seconds, sometimes with a hold, a comment, a review, or
// a mistake. Each pull request ends, and its package is then free for the next one.
import { addVersionToChannelStart } from '../../../sandbox/demo/catalog-edits.ts'
import { pushCatalogImages, demoRepositoryName } from '../../../sandbox/demo/demo-environment.ts'
import type { MockPull } from '../../../sandbox/github/github-data.ts'
import type { SeededRandom } from '../../../simulate/seeded-random.ts'
import { isPullReportedOnHold } from './plans.ts'
import { getPackageOwner, getCatalogPath, type TwoBotsEnvironment } from './two-bots.ts'

export interface SoakTraffic {
  opened: number
  merged: number
  closed: number
  /** Continues the open pull requests, and opens one more if a package is free. */
  step(opens: boolean): Promise<void>
  readonly open: () => readonly MockPull[]
}

interface PackageTrafficState {
  readonly pull: MockPull
  readonly text: string
  /** What its users do, step by step; the last step is waited for. */
  readonly next: (() => void | Promise<void>)[]
  /** What they wait for before each step. */
  readonly sees?: () => boolean
}

export function createSoakTraffic(
  packages: readonly string[],
  bots: TwoBotsEnvironment,
  dice: SeededRandom,
): SoakTraffic {
  const { github, registry } = bots
  const textByPackage = new Map(packages.map((name) => [name, bots.textOf(name)]))
  const newest = new Map(packages.map((name) => [name, 1]))
  const busy = new Map<string, PackageTrafficState>()
  const traffic: SoakTraffic = {
    opened: 0,
    merged: 0,
    closed: 0,
    open: () => [...busy.values()].map(({ pull }) => pull),
    async step(opens) {
      for (const [name, { pull, text, next, sees }] of busy) {
        if (pull.state === 'open') {
          if (sees?.() !== false) await next.shift()?.()
          continue
        }
        if (pull.merged !== null) {
          textByPackage.set(name, text)
          newest.set(name, (newest.get(name) ?? 1) + 1)
          traffic.merged += 1
        } else traffic.closed += 1
        busy.delete(name)
      }
      const free = packages.filter((name) => !busy.has(name))
      if (!opens || free.length === 0) return
      const name = dice.of(free)
      busy.set(name, await open(name))
      traffic.opened += 1
    },
  }
  return traffic

  async function open(name: string): Promise<PackageTrafficState> {
    const owner = getPackageOwner(name)
    const from = newest.get(name) ?? 1
    const version = `1.${from + 1}.0`
    const text = addVersionToChannelStart(textByPackage.get(name) ?? '', name, version, `1.${from}.0`)
    const twoHeads = text.replace(`replaces: ${name}.v1.${from}.0`, `replaces: ${name}.v1.${from - 1}.0`)
    pushCatalogImages(registry, text, (bundle) => bundle === `${name}.v${version}`)
    const opened = (author: string, content: string, draft = false) =>
      github.openPull({
        repository: demoRepositoryName,
        author,
        title: `${name} ${version}`,
        changes: { [getCatalogPath(name)]: content },
        draft,
      })
    const kind = dice.pickWeighted([
      ['good', 10],
      ['pushed twice', 2],
      ['approved', 2],
      ['held', 2],
      ['bad', 2],
      ['asked about', 2],
    ] as const)
    if (kind === 'bad') {
      const pull = await opened(owner, twoHeads)
      return { pull, text, next: [noopTrafficStep, () => github.close(pull)] }
    }
    if (kind === 'pushed twice') {
      const pull = await opened(owner, twoHeads)
      const fixFile = async () => void (await github.pushToPull(pull, { [getCatalogPath(name)]: text }))
      return { pull, text, next: [fixFile] }
    }
    if (kind === 'approved') {
      const pull = await opened('mallory', text)
      return { pull, text, next: [noopTrafficStep, () => void github.review(pull, owner, 'approve')] }
    }
    if (kind === 'held') {
      const pull = await opened(owner, text, true)
      github.comment(pull, owner, '/hold')
      await github.draft(pull, false)
      const next = [() => void github.comment(pull, owner, '/unhold')]
      return { pull, text, next, sees: () => isPullReportedOnHold(pull) }
    }
    const pull = await opened(owner, text)
    if (kind === 'asked about') github.comment(pull, owner, '/recheck')
    return { pull, text, next: [] }
  }
}

/** A step in which users only wait. */
const noopTrafficStep = () => undefined
