// A pull request on a base branch that another commit broke: the report names that commit, and does not blame the author.
import { afterAll, describe, expect, test } from '@jest/globals'
import { toPullNumber, type CommitSha } from '../../src/pull-request/ids.ts'
import { prepareEvaluationReport } from '../../src/evaluate/worker/prepare-report.ts'
import { renderPullReport } from '../../src/report/report.ts'
import { describeBrokenBaseBranchFiles } from '../../src/report/evaluation-report.ts'
import { createCatalogYaml } from '../checks/ownership/read-catalog-text.ts'
import { createOwnershipScenario, catalogLoader } from '../checks/ownership/ownership-scenario.ts'
import { createTestPullSnapshot } from '../policy/verdict-inputs.ts'
import type { OriginFiles } from '../adapters/git/origin.ts'
import { findCommitsThatBrokeBase } from '../../src/evaluate/trace-findings.ts'

const ownershipScenario = await createOwnershipScenario('broken-base-branch')
const { origin } = ownershipScenario
for (const login of ['alice', 'maria']) ownershipScenario.fakeAccounts.person(login)
afterAll(() => ownershipScenario.close())

const pullNumber = toPullNumber(7)
const getCatalogPath = (name: string) => `catalogs/v4.20/${name}/catalog.yaml`
const otherCatalogPath = getCatalogPath('other')
const otherCatalogYaml = createCatalogYaml('other', ['1.0.0', '1.1.0'])
const validRepositoryFiles: OriginFiles = {
  'config.yaml': 'maintainers: [maria]\n',
  'operators/mine/ci.yaml': 'reviewers: [alice]\n',
  [getCatalogPath('mine')]: createCatalogYaml('mine', ['1.0.0']),
  [otherCatalogPath]: otherCatalogYaml,
}
/** Two heads: no entry replaces the other. */
const brokenRepositoryFiles: OriginFiles = {
  ...validRepositoryFiles,
  [otherCatalogPath]: otherCatalogYaml.replace(/^ +replaces: .*\n/m, ''),
}
const addedBundleChange = { [getCatalogPath('mine')]: createCatalogYaml('mine', ['1.0.0', '1.1.0']) }

async function evaluatePull(base: CommitSha, head: CommitSha) {
  await ownershipScenario.fetchPull(base, head)
  const snapshot = createTestPullSnapshot({
    pull: pullNumber,
    base,
    head,
    author: ownershipScenario.fakeAccounts.person('alice'),
  })
  const evaluation = await ownershipScenario.evaluateSnapshot(snapshot, { loader: catalogLoader })
  const findings = evaluation.verdict.outcomes
    .filter(({ isOptional }) => isOptional !== true)
    .flatMap((outcome) => outcome.findings)
    .filter(({ severity }) => severity === 'error')
  return {
    ...evaluation,
    findings,
    reportInputs: await prepareEvaluationReport(evaluation, ownershipScenario.mirror, catalogLoader),
  }
}

describe('a base branch that a commit broke', () => {
  test('blocks a pull request for another package, names the commit, and asks nothing of the author', async () => {
    const good = origin.commit(validRepositoryFiles)
    const breaking = origin.commit(brokenRepositoryFiles, [good])
    const later = origin.commit({ ...brokenRepositoryFiles, 'README.md': 'later\n' }, [breaking])
    const head = origin.commit({ ...brokenRepositoryFiles, ...addedBundleChange }, [later])
    const { verdict, findings, reportInputs } = await evaluatePull(later, head)
    expect(verdict.kind).toBe('blocked')
    expect(findings.map(({ rule, isOnBase }) => [rule, isOnBase])).toEqual([['several-heads', true]])
    expect(verdict.outcomes.find(({ check }) => check === 'install')?.findings).toMatchObject([
      { rule: 'does-not-install', isOnBase: true },
    ])
    expect(reportInputs.baseBreaks).toEqual([{ file: otherCatalogPath, errors: 1, commit: breaking }])
    const { comment = '' } = renderPullReport(verdict, { ...reportInputs })
    expect(comment).toContain('`main` is already broken')
    expect(comment).toContain('No action is needed from the author')
    expect(comment).not.toContain('Push a fix')
    expect(comment).not.toContain('[!CAUTION]')
  })

  test('does not hide an error that the pull request adds', async () => {
    const good = origin.commit(validRepositoryFiles)
    const breaking = origin.commit(brokenRepositoryFiles, [good])
    const mine = createCatalogYaml('mine', ['1.0.0', '1.1.0']).replace(/^ +replaces: .*\n/m, '')
    const head = origin.commit({ ...brokenRepositoryFiles, [getCatalogPath('mine')]: mine }, [breaking])
    const { verdict, findings, reportInputs } = await evaluatePull(breaking, head)
    expect(findings.map(({ at, isOnBase }) => [at?.file, isOnBase])).toEqual([
      [getCatalogPath('mine'), undefined],
      [otherCatalogPath, true],
    ])
    const { comment = '' } = renderPullReport(verdict, { ...reportInputs })
    expect(comment).toContain('One error to fix')
    expect(comment).toContain('Push a fix')
  })

  test('does not apply to an error that the pull request itself adds', async () => {
    const good = origin.commit(validRepositoryFiles)
    const head = origin.commit(brokenRepositoryFiles, [good])
    const { findings, reportInputs } = await evaluatePull(good, head)
    expect(findings.map(({ isOnBase }) => isOnBase)).toEqual([undefined])
    expect(reportInputs.baseBreaks).toBeUndefined()
  })

  test('has no known commit if the error is older than the commits that are searched', async () => {
    const first = origin.commit(brokenRepositoryFiles)
    let tip = first
    for (let at = 0; at < 105; at++)
      tip = origin.commit({ ...brokenRepositoryFiles, 'README.md': `${at}\n` }, [tip])
    const head = origin.commit({ ...brokenRepositoryFiles, ...addedBundleChange }, [tip])
    const { findings, config } = await evaluatePull(tip, head)
    const tools = { repository: ownershipScenario.mirror, loader: catalogLoader, config }
    expect(await findCommitsThatBrokeBase(findings, tip, tools)).toEqual([
      { file: otherCatalogPath, errors: 1 },
    ])
  })
})

test('the line links the pull request if catalog-bot merged it, and the commit otherwise', () => {
  const commit = origin.commit(validRepositoryFiles)
  const page = {
    web: 'https://github.com',
    repository: { owner: 'coast', name: 'catalog' },
    pull: pullNumber,
  }
  const breaks = [{ file: 'catalog/a.yaml', errors: 2, commit }]
  expect(describeBrokenBaseBranchFiles(breaks, new Map([[commit, toPullNumber(3)]]), page, 'main')).toEqual([
    "`catalog/a.yaml` already has 2 errors on `main`, since [#3](https://github.com/coast/catalog/pull/3). This pull request didn't cause them.",
  ])
  expect(describeBrokenBaseBranchFiles(breaks, new Map(), page, 'main')[0]).toContain(`/commit/${commit}`)
})
