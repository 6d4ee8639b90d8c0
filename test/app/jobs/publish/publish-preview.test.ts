// Preview images: which results may have one, and that they go again.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { checkIds } from '../../../../src/findings/checks.ts'
import { madePreviews, previewWishes } from '../../../../src/app/jobs/publish/preview-state.ts'
import { catalogImages } from '../../../../src/app/jobs/trial/catalog-images.ts'
import type { TrialWish } from '../../../../src/app/jobs/trial/trial-state.ts'
import { dropPreviews, wishedPreview, type Looked } from '../../../../src/app/jobs/publish/wish-preview.ts'
import { commitSha, pullNumber, treeSha } from '../../../../src/change/ids.ts'
import type { CheckOutcome } from '../../../../src/checks/check.ts'
import type { CommandRecord } from '../../../../src/gate/commands.ts'
import type { GitHubApp } from '../../../../src/github/github-app.ts'
import type { Store } from '../../../../src/ports/store.ts'
import type { Furnished } from '../../../sandbox/github/sample-world.ts'
import { openJobGround, type JobGround } from '../job-ground.ts'
import { config, entry, image, openPublishScene, type PublishScene } from './publish-scene.ts'

const head = commitSha('a'.repeat(40))
const result = { commit: commitSha('b'.repeat(40)), tree: treeSha('c'.repeat(40)) }
const outcome = (check: CheckOutcome['check'], more: Partial<CheckOutcome> = {}): CheckOutcome => ({
  check,
  findings: [],
  unanswered: [],
  waiting: [],
  summary: '',
  ...more,
})
const error = [{ severity: 'error' }] as unknown as CheckOutcome['findings']
const open = [{ question: 'q', reason: 'r', retryAfter: 1 }]
const waiting = [{ what: 'approval', who: ['alice'] }]
const looked = (
  outcomes: readonly CheckOutcome[],
  more: { state?: string; result?: unknown } = {},
): Omit<Looked, 'hasPreviews'> =>
  ({
    snapshot: { head, baseRef: 'main', state: more.state ?? 'open' },
    verdict: { outcomes, ...('result' in more ? { result: more.result } : { result }) },
    epoch: 2,
  }) as never
const command = (more: Partial<CommandRecord> = {}): CommandRecord =>
  ({ comment: 5, command: 'preview', outcome: 'done', head, epoch: 2, ...more }) as CommandRecord

const sound = [outcome('ownership', { waiting }), outcome('validation'), outcome('images')]
const allGood = checkIds.map((id) => outcome(id))

describe('a preview', () => {
  test('is made of the validated result where somebody asked for it, though approvals are missing', () => {
    expect(wishedPreview(looked(sound), [command()])).toEqual({
      head,
      tree: result.tree,
      baseRef: 'main',
      isAsked: true,
      comment: 5,
      isClosed: false,
    })
  })

  test('is made without being asked for when all checks passed', () => {
    expect(wishedPreview(looked(allGood), [])).toMatchObject({ isAsked: false })
  })

  test.each<[string, Omit<Looked, 'hasPreviews'>, readonly CommandRecord[]]>([
    ['nobody asks and approvals are missing', looked(sound), []],
    ['somebody without rights asks', looked(sound), [command({ outcome: 'denied' })]],
    ['it was asked for another commit', looked(sound), [command({ head: commitSha('d'.repeat(40)) })]],
    ['it was asked before the base changed', looked(sound), [command({ epoch: 1 })]],
    [
      'validation failed',
      looked([outcome('validation', { findings: error }), outcome('images')]),
      [command()],
    ],
    [
      'images are not known yet',
      looked([outcome('validation'), outcome('images', { unanswered: open })]),
      [command()],
    ],
    ['a check is missing', looked([outcome('validation')]), [command()]],
    ['nothing was checked', looked([]), [command()]],
    ['head and base do not merge', looked(allGood, { result: undefined }), [command()]],
    ['the pull request is closed', looked(allGood, { state: 'closed' }), [command()]],
  ])('is not made when %s', (_name, given, records) => {
    expect(wishedPreview(given, records)).toBeUndefined()
  })
})

describe('the preview of a pull request', () => {
  let ground: JobGround
  let it: Furnished
  let app: GitHubApp
  let store: Store
  let directory: string
  let scene: PublishScene

  beforeAll(async () => {
    ground = await openJobGround()
    ;({ it, app, store, directory } = ground)
    scene = await openPublishScene(it, app, store, directory, {
      '.github/catalog-bot.yml': config('    preview: {expires: 1d}\n'),
    })
    await scene.run()
  }, 180_000)
  afterAll(async () => {
    await scene.close()
    await ground.close()
  }, 180_000)

  /** A pull request whose head stands for its validated result. */
  async function wished(text: string) {
    const pull = await it.github.openPull({
      repository: scene.full,
      author: 'alice',
      title: 'More',
      changes: { 'catalogs/v4.18/alpha/catalog.yaml': text },
    })
    const { repository } = scene.place
    await repository.fetch('main', pullNumber(pull.number))
    const commit = await repository.pullHead(pullNumber(pull.number))
    if (commit === undefined) throw new Error('no head')
    const tree = await repository.treeOf(commit)
    const wish = { head: commit, tree, baseRef: 'main', isAsked: true, comment: 5, isClosed: false }
    await store.writeState(
      previewWishes,
      scene.place.forge.repository,
      new Map([[String(pull.number), wish]]),
    )
    await scene.preview(pull.number)
    return { pull, commit, tag: `${image}:pr-${pull.number}-v4.18` }
  }

  test('holds its result under a tag of its own, touches no other, and goes when its time is over', async () => {
    const before = scene.registry.at(`${image}:latest`)
    const { pull, commit, tag } = await wished(entry('alpha', 'preview'))
    expect(scene.registry.textOf(tag)).toContain('name: preview')
    expect(scene.registry.at(`${image}:latest`)).toBe(before)
    expect(scene.check(commit, 'preview')).toMatchObject({ conclusion: 'neutral' })
    expect(scene.check(commit, 'preview')?.summary).toContain(`\`${tag}\``)
    const count = scene.registry.asked.length
    await scene.preview(pull.number)
    expect(scene.registry.asked).toHaveLength(count)
    scene.pass(25 * 3600)
    await scene.preview(pull.number)
    expect(scene.registry.at(tag)).toBeUndefined()
    await scene.preview(pull.number)
    expect(scene.registry.at(tag)).toBeUndefined()
  }, 180_000)

  test('is what a trial with OLM v1 takes: of exactly its tree, with what is published of exactly the tree before', async () => {
    const { pull, commit, tag } = await wished(entry('alpha', 'tried'))
    const { repository } = scene.place
    const [tree, baseTree] = [await repository.treeOf(commit), await repository.treeOf(await mainTip())]
    const root = 'catalogs/v4.18'
    const imagesOf = async (more: Partial<TrialWish> = {}, number = pull.number) => {
      const trial = { target: 'OLM v1' } as TrialWish['trials'][number]['trial']
      const wish = { head: commit, tree, baseTree, trials: [{ root, trial }], ...more } as TrialWish
      const found = await catalogImages(pullNumber(number), wish, scene.place)
      return [...found.values()][0]
    }
    const head = `${image}@${scene.registry.at(tag) ?? ''}`
    expect(await imagesOf()).toEqual({ head, base: `${image}@${scene.registry.at(`${image}:latest`) ?? ''}` })
    // The branch's catalog is another one than what is published.
    expect(await imagesOf({ baseTree: tree })).toEqual({ head })
    expect(await imagesOf({ tree: baseTree })).toMatchObject({ why: expect.stringContaining('/preview') })
    expect(await imagesOf({}, 9999)).toMatchObject({ why: expect.stringContaining('/preview') })
    expect(
      await imagesOf({ trials: [{ root: 'catalogs/v4.19', trial: { target: 'OLM v1' } as never }] }),
    ).toMatchObject({ why: expect.stringContaining('no previews') })
    expect(await imagesOf({ trials: [{ root, trial: { target: 'OLM v0' } as never }] })).toBeUndefined()
    // Asked for and not made yet.
    const key = String(pull.number)
    const { repository: name } = scene.place.forge
    const made = await store.readState(madePreviews, name, key)
    await store.writeState(madePreviews, name, new Map([[key, { images: [], ended: [], attempts: 0 }]]))
    expect(await imagesOf()).toBe('coming')
    expect(await imagesOf({ head: await mainTip() })).toMatchObject({ why: expect.any(String) })
    if (made) await store.writeState(madePreviews, name, new Map([[key, made]]))
    scene.pass(25 * 3600)
    expect(await imagesOf()).toMatchObject({ why: expect.any(String) })
    await scene.preview(pull.number)
    expect(await imagesOf()).toMatchObject({ why: expect.any(String) })
  }, 180_000)

  async function mainTip() {
    const { repository } = scene.place
    await repository.fetch('main')
    const tip = await repository.tip('main')
    if (tip === undefined) throw new Error('no branch')
    return tip
  }

  test('goes when it is closed', async () => {
    const { pull, tag } = await wished(entry('alpha', 'closing'))
    expect(scene.registry.at(tag)).toBeDefined()
    await dropPreviews(pullNumber(pull.number), scene.place)
    expect(scene.asked.at(-1)?.job).toMatchObject({ kind: 'preview', pull: pull.number })
    await scene.preview(pull.number)
    expect(scene.registry.at(tag)).toBeUndefined()
    const key = String(pull.number)
    expect(await store.readState(madePreviews, scene.place.forge.repository, key)).toMatchObject({
      images: [],
    })
    expect(scene.registry.at(`${image}:latest`)).toBeDefined()
  }, 180_000)

  test('of a result whose catalog is the same as on the branch is none', async () => {
    const count = scene.registry.asked.length
    await wished(entry('alpha'))
    expect(scene.registry.asked).toHaveLength(count)
  }, 180_000)
})
