// Entries at the path of the configuration that are not valid configuration files: each has a specific message and
// blocks the merge, both in the App and on the command line.
import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { toPullNumber } from '../../src/pull-request/ids.ts'
import { evaluateLocalPull } from '../../src/cli/local-pull.ts'
import { loadLocalConfig } from '../../src/cli/local-config.ts'
import { evaluatePullSnapshot } from '../../src/evaluate/evaluate.ts'
import { noopCache, noopPullHistoryStore } from '../../src/catalogs/null-store.ts'
import { openOwnershipScenario, type OwnershipScenario } from '../checks/ownership/ownership-scenario.ts'
import { runCatalogBot } from '../cli/command.ts'
import { createSnapshot } from '../policy/gate-builders.ts'
import type { OriginFiles } from '../adapters/git/origin.ts'

const configPath = '.github/catalog-bot.yml'
const strictConfig = 'merge: {enabled: false}\n'
const createConfigPosition = (line: number, column: number) => ({ file: configPath, line, column })
const regularFilePattern = /Ask a maintainer to replace .* with a regular file/

const configCases: readonly [
  what: string,
  files: OriginFiles,
  problem: string,
  fix: RegExp,
  place?: object,
][] = [
  [
    'a link',
    { [configPath]: { mode: '120000', content: '../strict.yml' }, 'strict.yml': strictConfig },
    'it is a symbolic link, and catalog-bot does not follow symbolic links',
    regularFilePattern,
  ],
  [
    'a submodule',
    { [configPath]: { mode: '160000', oid: '1234567890'.repeat(4) } },
    'it is a submodule, and catalog-bot does not read submodules',
    regularFilePattern,
  ],
  [
    'a directory',
    { [`${configPath}/strict.yml`]: strictConfig },
    'it is a directory, but must be a file',
    regularFilePattern,
  ],
  [
    'a file below a link',
    { '.github': { mode: '120000', content: 'elsewhere' }, 'elsewhere/catalog-bot.yml': strictConfig },
    'the entry `.github` is a symbolic link, a submodule, or a file, so catalog-bot cannot read a configuration in it',
    /make .github a regular directory/,
  ],
  [
    'a file of more than 128 KB',
    { [configPath]: `${strictConfig}${'#\n'.repeat(65 * 1024)}` },
    'it is larger than 128 KB',
    /Ask a maintainer to shorten/,
  ],
  [
    'a list',
    { [configPath]: '# who\n- owners\n' },
    'it contains a list, but must contain keys such as `catalogs:`',
    /Ask a maintainer to fix/,
    createConfigPosition(2, 1),
  ],
  [
    'a text',
    { [configPath]: 'owners\n' },
    'it contains a single value, but must contain keys such as `catalogs:`',
    /Ask a maintainer to fix/,
  ],
]

let ownershipScenario: OwnershipScenario
const ownedFilePath = 'operators/mine/README.md'
const baseFiles: OriginFiles = { 'operators/mine/ci.yaml': 'reviewers: [alice]\n', [ownedFilePath]: 'one\n' }
beforeAll(async () => void (ownershipScenario = await openOwnershipScenario('config-file')))
afterAll(() => ownershipScenario.close())

async function commitConfigPull(files: OriginFiles) {
  const from = ownershipScenario.origin.commit({ ...baseFiles, ...files })
  const head = ownershipScenario.origin.commit({ ...baseFiles, ...files, [ownedFilePath]: 'two\n' }, [from])
  ownershipScenario.origin.branch('main', from)
  ownershipScenario.origin.pull(7, head)
  await ownershipScenario.mirror.fetch('main', toPullNumber(7))
  return { from, head }
}

type PullEvaluationResult = Awaited<ReturnType<typeof evaluatePullSnapshot>>
const findConfigFindings = ({ verdict }: PullEvaluationResult) =>
  verdict.outcomes.flatMap(({ findings }) => findings).filter(({ rule }) => rule === 'config-unreadable')

async function evaluateAsApp({ from, head }: Awaited<ReturnType<typeof commitConfigPull>>) {
  return evaluatePullSnapshot(
    createSnapshot({ author: ownershipScenario.fakeAccounts.person('alice'), base: from, head }),
    {
      repository: ownershipScenario.mirror,
      loader: { cache: noopCache, load: async () => undefined },
      ask: async (question) => ownershipScenario.fakeAccounts.answer(question),
      memory: noopPullHistoryStore,
    },
  )
}

describe('a configuration that is', () => {
  test.each(configCases)(
    '%s is reported with its location and a fix, and blocks the merge',
    async (_what, files, problem, fix, position = createConfigPosition(1, 1)) => {
      const pull = await commitConfigPull(files)
      const repo = ownershipScenario.origin.directory
      const locally = await evaluateLocalPull({
        repo,
        base: pull.from,
        head: pull.head,
        author: 'alice',
        offline: true,
      })
      for (const examined of [await evaluateAsApp(pull), locally]) {
        expect(examined.verdict.kind).toBe('blocked')
        const [found, ...more] = findConfigFindings(examined)
        expect(more).toEqual([])
        expect(found).toMatchObject({ severity: 'error', at: position })
        expect(found?.what).toBe(`the configuration of this repository is invalid: ${problem}`)
        expect(found?.fix).toMatch(fix)
      }
    },
  )

  test('not UTF-8 is reported with its location', async () => {
    const bytes = Buffer.concat([Buffer.from('# ü\nowners: # '), Buffer.from([0xfc]), Buffer.from('\n')])
    const oid = ownershipScenario.origin.git(['hash-object', '-w', '--stdin'], bytes)
    const examined = await evaluateAsApp(await commitConfigPull({ [configPath]: { mode: '100644', oid } }))
    expect(examined.verdict.kind).toBe('blocked')
    expect(findConfigFindings(examined)).toMatchObject([
      { at: createConfigPosition(2, 11), what: expect.stringContaining('it is not UTF-8 text') },
    ])
  })

  test('a link is reported by check and for a directory, but accepted as an explicit path', async () => {
    const { from, head } = await commitConfigPull({
      [configPath]: { mode: '120000', content: '../strict.yml' },
      'strict.yml': strictConfig,
    })
    const { code, out } = await runCatalogBot(
      'check',
      '--repo',
      ownershipScenario.origin.directory,
      '--base',
      from,
      '--head',
      head,
      '--author',
      'alice',
      '--offline',
    )
    expect(code).toBe(1)
    expect(out).toContain(`${configPath}:1:1`)
    expect(out).toContain('it is a symbolic link, and catalog-bot does not follow symbolic links')
    expect(out).toMatch(regularFilePattern)
    ownershipScenario.origin.branch('main', from)
    const checkout = `${ownershipScenario.origin.directory}-checkout`
    execFileSync('git', [
      'clone',
      '--quiet',
      '--branch',
      'main',
      ownershipScenario.origin.directory,
      checkout,
    ])
    await expect(loadLocalConfig(checkout, undefined)).rejects.toThrow(
      `${configPath}:1:1: the configuration of this repository is invalid: it is a symbolic link`,
    )
    // An explicitly named file may be a link.
    expect((await loadLocalConfig(checkout, `${checkout}/${configPath}`)).root).toBe('')
    await expect(loadLocalConfig(checkout, checkout)).rejects.toThrow('it is a directory, but must be a file')
  })
})
