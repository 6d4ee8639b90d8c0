// From a snapshot to a permit: a maintainer lets a correction pass, and the commit that lands says so.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { pullNumber, type CommitSha } from '../../src/change/ids.ts'
import type { Comment } from '../../src/change/snapshot.ts'
import { assemble } from '../../src/catalog/facts/assemble.ts'
import { readFile } from '../../src/catalog/load/read-file.ts'
import type { CatalogLoader } from '../../src/examine/catalogs/catalog-loader.ts'
import { examine } from '../../src/examine/examine.ts'
import { forgetfulCache } from '../../src/examine/forgetful.ts'
import type { Store } from '../../src/ports/store.ts'
import { catalogFile } from '../checks/ownership/blobs.ts'
import { openWorld, type World } from '../checks/ownership/world.ts'
import { aSnapshot } from '../gate/build.ts'
import type { Files } from '../git/origin.ts'
import { openMadeStore } from '../store/made-store.ts'
import { clock } from '../store/sample-records.ts'

let world: World
let store: Store
beforeAll(async () => {
  world = await openWorld('overridden')
  store = await openMadeStore({ clock })
  for (const login of ['alice', 'maria']) world.people.person(login)
}, 180_000)
afterAll(async () => {
  await store.close()
  await world.close()
})

const pull = pullNumber(7)
const at = (minute: number) => `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`
const place = (name: string) => `catalogs/v4.20/${name}/catalog.yaml`
const base: Files = {
  'config.yaml': 'maintainers: [maria]\n',
  '.github/catalog-bot.yml': 'rules:\n  channel-removed: error\n',
  'operators/mine/ci.yaml': 'reviewers: [alice]\n',
  [place('mine')]: catalogFile('mine', ['1.0.0', '1.1.0']),
  [place('other')]: catalogFile('other', ['1.0.0']),
}
const fast = '---\nschema: olm.channel\npackage: mine\nname: fast\nentries:\n  - name: mine.v1.1.0\n'
const withFast: Files = { ...base, [place('mine')]: `${catalogFile('mine', ['1.0.0', '1.1.0'])}${fast}` }

const loader: CatalogLoader = {
  cache: forgetfulCache,
  load: async (repository, tree, root) => {
    const entries = (await repository.list(tree)).filter(({ path }) => path.startsWith(`${root}/`))
    const files = entries.map(async ({ path, oid }) => ({
      path: path.slice(root.length + 1),
      facts: readFile(await repository.read(oid)),
    }))
    return entries.length === 0 ? undefined : assemble(await Promise.all(files))
  },
}

async function look(from: CommitSha, head: CommitSha, comments: readonly Comment[], shows?: number) {
  world.origin.branch('main', from)
  world.origin.pull(7, head)
  await world.mirror.fetch('main', pull)
  const snapshot = aSnapshot({
    pull,
    base: from,
    head,
    comments,
    author: world.people.person('maria'),
  })
  const seen = await examine(snapshot, {
    repository: world.mirror,
    loader,
    // There is no registry: whether the package installs is open, and nobody requires it.
    ask: async (question) =>
      ['image', 'bundle', 'install'].includes(question.kind)
        ? { kind: 'unknown', reason: 'no registry is here', retryAfter: 1 }
        : world.people.answer(question),
    memory: store,
  })
  for (const { record } of seen.commands) await store.recordCommand(snapshot.repository, pull, record)
  if (shows !== undefined && seen.described) {
    await store.keepChange(snapshot.repository, pull, seen.described)
    await store.recordShown(snapshot.repository, pull, {
      head,
      epoch: seen.epoch,
      at: at(shows),
      change: seen.described.id,
    })
  }
  return seen
}

test('a maintainer removes a channel, which the table allows, by saying why; a change of it withdraws that', async () => {
  const from = world.origin.commit(withFast)
  const head = world.origin.commit(base, [from])
  const first = await look(from, head, [], 1)
  expect(first.verdict.kind).toBe('blocked')
  const said: Comment = {
    id: 9001,
    author: world.people.person('maria'),
    body: '/override channel-removed because nobody looks after it',
    createdAt: at(2),
    updatedAt: at(2),
  }
  const second = await look(from, head, [said])
  expect(second.verdict.reasons).toEqual([{ code: 'all-checks-passed', text: 'all checks passed' }])
  const { permit } = second.verdict
  if (!permit || second.merge.kind !== 'clean') throw new Error('there is no permit')
  expect(permit.landing.commit).toBe(second.merge.commit)
  expect(await world.mirror.messageOf(permit.landing.commit)).toContain(
    'Overridden by maria: channel-removed, because nobody looks after it',
  )
  expect(
    second.verdict.outcomes.flatMap(({ findings }) => findings.map((found) => found.overridden)),
  ).toContainEqual({ by: 'maria', reason: 'nobody looks after it' })
  // The comment is gone: so is what it said.
  expect((await look(from, head, [])).verdict.kind).toBe('blocked')
  // The same comment under another head, that does something else.
  const more = world.origin.commit({ ...base, [place('mine')]: catalogFile('mine', ['1.1.0']) }, [head])
  expect((await look(from, more, [said])).verdict.kind).not.toBe('merge')
})
