// Entries at the path of the configuration that are not valid configuration files: each has a specific message and
// blocks the merge, both in the App and on the command line.
import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { evaluateLocalPullRequest } from '../../src/cli/local-pull.ts'
import { loadLocalConfig } from '../../src/cli/validate.ts'
import { createOwnershipScenario, type OwnershipScenario } from '../checks/ownership/ownership-scenario.ts'
import { runCatalogBot } from '../cli/command.ts'
import { createTestPullSnapshot } from '../policy/verdict-inputs.ts'
import type { OriginFiles } from '../adapters/git/origin.ts'

const configPath = '.github/catalog-bot.yml'
const mergeDisabledConfig = 'merge: {enabled: false}\n'
const createConfigPosition = (line: number, column: number) => ({ file: configPath, line, column })
const regularFileAdvicePattern = /Ask a maintainer to replace .* with a regular file/

const unreadableConfigCases: readonly [
  what: string,
  files: OriginFiles,
  problem: string,
  fix: RegExp,
  place?: object,
][] = [
  [
    'a link',
    { [configPath]: { mode: '120000', content: '../strict.yml' }, 'strict.yml': mergeDisabledConfig },
    'the file is a symbolic link, and catalog-bot does not follow symbolic links',
    regularFileAdvicePattern,
  ],
  [
    'a submodule',
    { [configPath]: { mode: '160000', oid: '1234567890'.repeat(4) } },
    'the path is a submodule, and catalog-bot does not read submodules',
    regularFileAdvicePattern,
  ],
  [
    'a directory',
    { [`${configPath}/strict.yml`]: mergeDisabledConfig },
    'the path is a directory, but must be a file',
    regularFileAdvicePattern,
  ],
  [
    'a file below a link',
    { '.github': { mode: '120000', content: 'elsewhere' }, 'elsewhere/catalog-bot.yml': mergeDisabledConfig },
    'the entry `.github` is a symbolic link, a submodule, or a file, so catalog-bot cannot read the configuration',
    /make .github a regular directory/,
  ],
  [
    'a file of more than 128 KB',
    { [configPath]: `${mergeDisabledConfig}${'#\n'.repeat(65 * 1024)}` },
    'the file is larger than 128 KB',
    /Ask a maintainer to shorten/,
  ],
  [
    'a list',
    { [configPath]: '# who\n- owners\n' },
    'the file contains a list, but must contain keys such as `catalogs:`',
    /Ask a maintainer to fix/,
    createConfigPosition(2, 1),
  ],
  [
    'a text',
    { [configPath]: 'owners\n' },
    'the file contains a single value, but must contain keys such as `catalogs:`',
    /Ask a maintainer to fix/,
  ],
]

let scenario: OwnershipScenario
const ownedFilePath = 'operators/mine/README.md'
const baseBranchFiles: OriginFiles = {
  'operators/mine/ci.yaml': 'reviewers: [alice]\n',
  [ownedFilePath]: 'one\n',
}
beforeAll(async () => void (scenario = await createOwnershipScenario('config-file')))
afterAll(() => scenario.close())

async function createPullCommitsWithConfig(files: OriginFiles) {
  const from = scenario.origin.commit({ ...baseBranchFiles, ...files })
  const head = scenario.origin.commit({ ...baseBranchFiles, ...files, [ownedFilePath]: 'two\n' }, [from])
  await scenario.fetchPull(from, head)
  return { from, head }
}

type PullEvaluationResult = Awaited<ReturnType<OwnershipScenario['evaluateSnapshot']>>
const findUnreadableConfigFindings = ({ verdict }: PullEvaluationResult) =>
  verdict.outcomes.flatMap(({ findings }) => findings).filter(({ rule }) => rule === 'config-unreadable')

async function evaluatePullCommits({ from, head }: Awaited<ReturnType<typeof createPullCommitsWithConfig>>) {
  return scenario.evaluateSnapshot(
    createTestPullSnapshot({ author: scenario.fakeAccounts.person('alice'), base: from, head }),
  )
}

describe('a configuration that is', () => {
  test.each(unreadableConfigCases)(
    '%s is reported with its location and a fix, and blocks the merge',
    async (_what, files, problem, fix, position = createConfigPosition(1, 1)) => {
      const pull = await createPullCommitsWithConfig(files)
      const repo = scenario.origin.directory
      const locally = await evaluateLocalPullRequest({
        repo,
        base: pull.from,
        head: pull.head,
        author: 'alice',
        offline: true,
      })
      for (const examined of [await evaluatePullCommits(pull), locally]) {
        expect(examined.verdict.kind).toBe('blocked')
        const [found, ...more] = findUnreadableConfigFindings(examined)
        expect(more).toEqual([])
        expect(found).toMatchObject({ severity: 'error', at: position })
        expect(found?.what).toBe(`the configuration of this repository is invalid: ${problem}`)
        expect(found?.fix).toMatch(fix)
      }
    },
  )

  test('not UTF-8 is reported with its location', async () => {
    const bytes = Buffer.concat([Buffer.from('# ü\nowners: # '), Buffer.from([0xfc]), Buffer.from('\n')])
    const oid = scenario.origin.git(['hash-object', '-w', '--stdin'], bytes)
    const examined = await evaluatePullCommits(
      await createPullCommitsWithConfig({ [configPath]: { mode: '100644', oid } }),
    )
    expect(examined.verdict.kind).toBe('blocked')
    expect(findUnreadableConfigFindings(examined)).toMatchObject([
      { at: createConfigPosition(2, 11), what: expect.stringContaining('the file is not UTF-8 text') },
    ])
  })

  test('a link is reported by check and for a directory, but accepted as an explicit path', async () => {
    const { from, head } = await createPullCommitsWithConfig({
      [configPath]: { mode: '120000', content: '../strict.yml' },
      'strict.yml': mergeDisabledConfig,
    })
    const { code, out } = await runCatalogBot(
      'check',
      '--repo',
      scenario.origin.directory,
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
    expect(out).toContain('the file is a symbolic link, and catalog-bot does not follow symbolic links')
    expect(out).toMatch(regularFileAdvicePattern)
    scenario.origin.branch('main', from)
    const checkout = `${scenario.origin.directory}-checkout`
    execFileSync('git', ['clone', '--quiet', '--branch', 'main', scenario.origin.directory, checkout])
    await expect(loadLocalConfig(checkout, undefined)).rejects.toThrow(
      `${configPath}:1:1: the configuration of this repository is invalid: the file is a symbolic link`,
    )
    // An explicitly named file may be a link.
    expect((await loadLocalConfig(checkout, `${checkout}/${configPath}`)).root).toBe('')
    await expect(loadLocalConfig(checkout, checkout)).rejects.toThrow(
      'the path is a directory, but must be a file',
    )
    await expect(loadLocalConfig(checkout, '/dev/zero')).rejects.toThrow('the file is larger than 128 KB')
  })
})
