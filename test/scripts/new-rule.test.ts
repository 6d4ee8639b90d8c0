import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { readExampleCasesForRule } from '../../scripts/rule-examples/cases.ts'
import { evaluateRuleExample } from '../../scripts/rule-examples/evaluate-example.ts'
import { ruleSuiteNames } from '../../packages/findings/src/rule.ts'
import { linkPackages } from '../link-packages.ts'
import { createRuleFiles, ruleKinds, describeNextSteps, writeRule } from '../../scripts/new-rule.ts'
import { writeFiles } from '../write-files.ts'

const projectRoot = join(import.meta.dirname, '../..')
let temporaryDirectory: string

beforeEach(() => {
  temporaryDirectory = mkdtempSync(join(tmpdir(), 'new-rule-'))
  cpSync(join(projectRoot, 'package.json'), join(temporaryDirectory, 'package.json'))
  for (const folder of ['src', 'packages'])
    cpSync(join(projectRoot, folder), join(temporaryDirectory, folder), { recursive: true })
  linkPackages(projectRoot, temporaryDirectory)
})

afterEach(() => {
  rmSync(temporaryDirectory, { recursive: true })
})

const ruleListLocations = [
  ['catalog', 'src/checks/validation/rules/KIND.ts', 'src/checks/validation/rules.ts', 'catalogRules'],
  [
    'upgrade',
    'src/checks/validation/upgrade/KIND.ts',
    'src/checks/validation/upgrade/rules.ts',
    'upgradeRules',
  ],
  [
    'bundle',
    'packages/bundle/src/rules/KIND.ts',
    'packages/bundle/src/content-rules.ts',
    'bundleContentRules',
  ],
  ['ownership', 'src/checks/ownership/rules.ts', 'src/checks/ownership/rules.ts', '*'],
  ['commits', 'src/checks/commits/rules.ts', 'src/checks/commits/rules.ts', '*'],
  ['bundle-directory', 'src/checks/bundles/rules.ts', 'src/checks/bundles/rules.ts', '*'],
  ['install', 'src/checks/install/rules.ts', 'src/checks/install/rules.ts', '*'],
  ['image', 'src/checks/images/rules.ts', 'src/checks/images/rules.ts', '*'],
  ['template', 'src/checks/validation/templates/rules.ts', 'src/checks/validation/templates/rules.ts', '*'],
  ['opm-load', 'packages/fbc/src/load/load-rules.ts', 'packages/fbc/src/load/rules.ts', 'catalogLoadRules'],
  [
    'opm-channel',
    'packages/fbc/src/model/rules/channel-rules.ts',
    'packages/fbc/src/model/rules/all.ts',
    'catalogModelRules',
  ],
] as const

/** The ids in these lists, by the names of the lists, or by their files for `*`; a single process loads them all. */
function loadRuleIds(lists: readonly (readonly [list: string, name: string])[]): Record<string, string[]> {
  const script = `const ids = {}
    for (const [list, name] of ${JSON.stringify(lists.map(([list, name]) => [join(temporaryDirectory, list), name]))})
      ids[name === '*' ? list : name] = Object.values(name === '*' ? await import(list) : (await import(list))[name]).map(({ id }) => id)
    console.log(JSON.stringify(ids))`
  return JSON.parse(
    execFileSync(process.execPath, ['--no-warnings', '--input-type=module', '-e', script], {
      encoding: 'utf8',
    }),
  ) as Record<string, string[]>
}

describe('a new rule', () => {
  test('of each kind has its message, a page, two examples, and an entry in a list, and loads', () => {
    for (const [kind, file] of ruleListLocations) {
      const id = `new-of-${kind}`
      const written = writeRule(temporaryDirectory, id, kind)
      expect(written).toContain(file.replace('KIND', id))
      expect(written).toContain(`docs/rules/${id}.md`)
      for (const example of ['good/plain', 'bad/rename-me'])
        expect(written.some((path) => path.startsWith(`fixtures/rules/${id}/${example}/`))).toBe(true)
      expect(readFileSync(join(temporaryDirectory, `docs/rules/${id}.md`), 'utf8')).toMatch(
        new RegExp(`^# ${id}\n`),
      )
    }
    const ids = loadRuleIds([
      ...ruleListLocations.map(([, , list, name]) => [list, name] as const),
      ['src/checks/all-rules.ts', 'allRules'],
    ])
    for (const [kind, , list, name] of ruleListLocations) {
      expect(ids[name === '*' ? join(temporaryDirectory, list) : name]).toContain(`new-of-${kind}`)
      expect(ids['allRules']).toContain(`new-of-${kind}`)
    }
  })

  test('has examples of its kind without findings', async () => {
    for (const [kind, { judges }] of Object.entries(ruleKinds)) {
      writeFiles(join(temporaryDirectory, kind), createRuleFiles('three-heads', kind))
      const [good] = readExampleCasesForRule('three-heads', join(temporaryDirectory, kind, 'fixtures/rules'))
      const { findings } = await evaluateRuleExample({ ...good!, judges })
      expect({ kind, found: findings.map(({ rule }) => rule) }).toEqual({ kind, found: [] })
    }
  })

  test('of a suite has examples that pass all rules of the suite', async () => {
    for (const suite of ruleSuiteNames) {
      const files = createRuleFiles('three-heads', 'bundle', suite)
      writeFiles(join(temporaryDirectory, suite), files)
      const [good] = readExampleCasesForRule('three-heads', join(temporaryDirectory, suite, 'fixtures/rules'))
      const { findings } = await evaluateRuleExample({ ...good!, judges: 'bundle' }, { suites: [suite] })
      expect({ suite, found: findings.map(({ rule }) => rule) }).toEqual({ suite, found: [] })
      const bad = [...files].filter(([path]) => path.includes('/bad/')).map(([, text]) => text)
      expect({ suite, marks: bad.join('').match(/ # three-heads$/gm)?.length }).toEqual({ suite, marks: 1 })
    }
  })

  test('about templates has a template beside the catalog', () => {
    const at = 'fixtures/rules/three-heads/bad/rename-me/result/operators/foo/catalog-templates/v4.20.yaml'
    expect(createRuleFiles('three-heads', 'template').get(at)).toMatch(
      /^schema: olm\.template\.basic # three-heads\n/,
    )
  })

  test('without its own search is found in an existing file, and the next steps name that file', () => {
    for (const [kind, { search, foundIn }] of Object.entries(ruleKinds)) {
      expect({ kind, says: (search === undefined) === (foundIn !== undefined) }).toEqual({ kind, says: true })
      if (foundIn === undefined) continue
      expect(existsSync(join(projectRoot, foundIn))).toBe(true)
      expect(describeNextSteps('three-heads', kind)).toContain(foundIn)
    }
    expect(describeNextSteps('three-heads', 'image')).toContain('createFinding(threeHeadsRule, place, data)')
    expect(describeNextSteps('three-heads', 'opm-bundle')).toContain("opm's message")
    expect(describeNextSteps('three-heads')).toContain('src/checks/validation/rules/three-heads.ts')
  })

  test('about images has an example that adds an image', () => {
    const files = createRuleFiles('three-heads', 'image')
    const example = (tree: string) =>
      files.get(`fixtures/rules/three-heads/bad/rename-me/${tree}/catalog/foo/catalog.yaml`) ?? ''
    const [marked = ''] = example('result')
      .split('\n')
      .filter((line) => line.endsWith(' # three-heads'))
    expect(marked).toMatch(/^image: /)
    expect(example('base')).not.toContain(marked.replace(' # three-heads', ''))
  })

  test('keeps a list sorted by id', () => {
    writeRule(temporaryDirectory, 'three-heads')
    const { catalogRules: ids = [] } = loadRuleIds([['src/checks/validation/rules.ts', 'catalogRules']])
    expect(ids).toContain('three-heads')
    expect(ids).toEqual(ids.toSorted())
  })

  test('never overwrites a file', () => {
    for (const kind of ['catalog', 'opm-bundle']) {
      writeRule(temporaryDirectory, `of-${kind}`, kind)
      expect(() => writeRule(temporaryDirectory, `of-${kind}`, kind)).toThrow(/already exists/)
    }
  })

  test('is rejected without a list for it, and nothing is written', () => {
    rmSync(join(temporaryDirectory, 'src/checks/validation/upgrade/rules.ts'))
    expect(() => writeRule(temporaryDirectory, 'three-heads', 'upgrade')).toThrow(
      /src\/checks\/validation\/upgrade has no rule list/,
    )
    expect(existsSync(join(temporaryDirectory, 'docs/rules/three-heads.md'))).toBe(false)
  })

  test('is the first of its folder if its list is still empty', () => {
    rmSync(join(temporaryDirectory, 'src/checks/validation/rules'), { recursive: true })
    writeRule(temporaryDirectory, 'three-heads')
    const list = readFileSync(join(temporaryDirectory, 'src/checks/validation/rules.ts'), 'utf8')
    expect(list).toContain('export const catalogRules: readonly CatalogRule[] = collectRules([threeHeads])\n')
  })

  test('about bundles is added to an existing suite', () => {
    const text = createRuleFiles('three-heads', 'bundle', 'good-practices').get(
      'packages/bundle/src/rules/three-heads.ts',
    )
    expect(text).toContain("  suite: 'good-practices',\n")
    expect(() => createRuleFiles('three-heads', 'bundle', 'songs')).toThrow(/good-practices/)
    expect(() => createRuleFiles('three-heads', 'catalog', 'good-practices')).toThrow(
      /only rules about bundles/,
    )
  })

  test.each([
    [['Two_Heads'], /^new-rule: the rule ID must be kebab-case, but is "Two_Heads"\n$/],
    [['two-heads', 'song'], /^new-rule: the kind must be one of .*, but is "song"\n$/],
    [['several-heads'], /^new-rule: .* already exists\n$/],
    [['two-heads', 'bundle', 'songs'], /^new-rule: the suite must be one of .*, but is "songs"\n$/],
    [['two-heads', 'bundle', 'community', 'songs'], /^usage: /],
    [[], /^usage: npm run new-rule ID /],
  ])('of %j gets a sentence and exit code 2, and no trace', (error, says) => {
    const script = join(projectRoot, 'scripts/new-rule.ts')
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', script, ...error], {
      encoding: 'utf8',
    })
    expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: '', stderr: expect.stringMatching(says) })
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  test('has a kebab-case name and an existing kind', () => {
    for (const id of ['TwoHeads', 'two_heads', '../escape', '', '-x', 'x-', '2-heads'])
      expect(() => createRuleFiles(id)).toThrow(TypeError)
    expect(() => createRuleFiles('two-heads', 'song')).toThrow(/catalog, upgrade, bundle/)
    expect(Object.keys(ruleKinds)).toContain('ownership')
  })
})
