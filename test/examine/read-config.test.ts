// What lies at the configuration's place without being one: each is said in its own words, and nothing is merged. Asked as
// the App asks, and as the command line does.
import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { pullNumber } from '../../src/change/ids.ts'
import { examineLocally } from '../../src/cli/local-pull.ts'
import { localConfig } from '../../src/cli/local-config.ts'
import { examine } from '../../src/examine/examine.ts'
import { forgetfulCache, forgetfulMemory } from '../../src/examine/forgetful.ts'
import { openWorld, type World } from '../checks/ownership/world.ts'
import { catalogBot } from '../cli/command.ts'
import { aSnapshot } from '../gate/build.ts'
import type { Files } from '../git/origin.ts'

const path = '.github/catalog-bot.yml'
const strict = 'merge: {enabled: false}\n'
const at = (line: number, column: number) => ({ file: path, line, column })
const regular = /puts a regular file/

const cases: readonly [what: string, files: Files, problem: string, fix: RegExp, place?: object][] = [
  [
    'a link',
    { [path]: { mode: '120000', content: '../strict.yml' }, 'strict.yml': strict },
    'it is a symbolic link, and the bot follows none',
    regular,
  ],
  [
    'a submodule',
    { [path]: { mode: '160000', oid: '1234567890'.repeat(4) } },
    'it is a submodule, and the bot reads none',
    regular,
  ],
  ['a directory', { [`${path}/strict.yml`]: strict }, 'it is a directory, and must be a file', regular],
  [
    'a file below a link',
    { '.github': { mode: '120000', content: 'elsewhere' }, 'elsewhere/catalog-bot.yml': strict },
    'its directory is a link, a submodule or a file: a checkout may have a configuration there, the bot sees none',
    /makes .github a plain directory/,
  ],
  [
    'a file of more than 128 KB',
    { [path]: `${strict}${'#\n'.repeat(65 * 1024)}` },
    'it is larger than 128 KB',
    /smaller/,
  ],
  [
    'a list',
    { [path]: '# who\n- owners\n' },
    'it holds a list, and must hold keys, such as `catalogs:`',
    /corrects/,
    at(2, 1),
  ],
  [
    'a text',
    { [path]: 'owners\n' },
    'it holds one value, and must hold keys, such as `catalogs:`',
    /corrects/,
  ],
]

let world: World
const mine = 'operators/mine/README.md'
const base: Files = { 'operators/mine/ci.yaml': 'reviewers: [alice]\n', [mine]: 'one\n' }
beforeAll(async () => void (world = await openWorld('config-file')))
afterAll(() => world.close())

async function pullOn(files: Files) {
  const from = world.origin.commit({ ...base, ...files })
  const head = world.origin.commit({ ...base, ...files, [mine]: 'two\n' }, [from])
  world.origin.branch('main', from)
  world.origin.pull(7, head)
  await world.mirror.fetch('main', pullNumber(7))
  return { from, head }
}

type Outcomes = Awaited<ReturnType<typeof examine>>
const said = ({ verdict }: Outcomes) =>
  verdict.outcomes.flatMap(({ findings }) => findings).filter(({ rule }) => rule === 'config-unreadable')

async function asApp({ from, head }: Awaited<ReturnType<typeof pullOn>>) {
  return examine(aSnapshot({ author: world.people.person('alice'), base: from, head }), {
    repository: world.mirror,
    loader: { cache: forgetfulCache, load: async () => undefined },
    ask: async (question) => world.people.answer(question),
    memory: forgetfulMemory,
  })
}

describe('a configuration that is', () => {
  test.each(cases)(
    '%s says so, with its place and what to do, and nothing is merged',
    async (_what, files, problem, fix, place = at(1, 1)) => {
      const pull = await pullOn(files)
      const repo = world.origin.directory
      const locally = await examineLocally({
        repo,
        base: pull.from,
        head: pull.head,
        author: 'alice',
        offline: true,
      })
      for (const examined of [await asApp(pull), locally]) {
        expect(examined.verdict.kind).toBe('blocked')
        const [found, ...more] = said(examined)
        expect(more).toEqual([])
        expect(found).toMatchObject({ severity: 'error', at: place })
        expect(found?.what).toBe(`the configuration of this repository cannot be read: ${problem}`)
        expect(found?.fix).toMatch(fix)
      }
    },
  )

  test('not UTF-8 says where', async () => {
    const bytes = Buffer.concat([Buffer.from('# ü\nowners: # '), Buffer.from([0xfc]), Buffer.from('\n')])
    const oid = world.origin.git(['hash-object', '-w', '--stdin'], bytes)
    const examined = await asApp(await pullOn({ [path]: { mode: '100644', oid } }))
    expect(examined.verdict.kind).toBe('blocked')
    expect(said(examined)).toMatchObject([
      { at: at(2, 11), what: expect.stringContaining('it is not UTF-8 text') },
    ])
  })

  test('a link is told by the command line itself, by a directory that is validated, and with a way out', async () => {
    const { from, head } = await pullOn({
      [path]: { mode: '120000', content: '../strict.yml' },
      'strict.yml': strict,
    })
    const { code, out } = await catalogBot(
      'check',
      '--repo',
      world.origin.directory,
      '--base',
      from,
      '--head',
      head,
      '--author',
      'alice',
      '--offline',
    )
    expect(code).toBe(1)
    expect(out).toContain(`${path}:1:1`)
    expect(out).toContain('it is a symbolic link, and the bot follows none')
    expect(out).toMatch(regular)
    world.origin.branch('main', from)
    const checkout = `${world.origin.directory}-checkout`
    execFileSync('git', ['clone', '--quiet', '--branch', 'main', world.origin.directory, checkout])
    await expect(localConfig(checkout, undefined)).rejects.toThrow(
      `${path}:1:1: the configuration of this repository cannot be read: it is a symbolic link`,
    )
    // Whoever names a file means what it leads to.
    expect((await localConfig(checkout, `${checkout}/${path}`)).root).toBe('')
    await expect(localConfig(checkout, checkout)).rejects.toThrow('it is a directory, and must be a file')
  })
})
