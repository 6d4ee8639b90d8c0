import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { readCasesOf } from '../../scripts/rule-examples/cases.ts'
import { judgeCase } from '../../scripts/rule-examples/judge-case.ts'
import { filesOf, kinds, writeRule } from '../../scripts/new-rule.ts'

const project = join(import.meta.dirname, '../..')
let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'new-rule-'))
  cpSync(join(project, 'package.json'), join(root, 'package.json'))
  cpSync(join(project, 'src'), join(root, 'src'), { recursive: true })
  symlinkSync(join(project, 'node_modules'), join(root, 'node_modules'))
})

afterEach(() => {
  rmSync(root, { recursive: true })
})

const idsIn = (list: string, name: string): string[] => {
  const script = `const { ${name} } = await import(${JSON.stringify(join(root, list))})
    console.log(${name}.map(({ id }) => id).join())`
  return execFileSync(process.execPath, ['--no-warnings', '--input-type=module', '-e', script], {
    encoding: 'utf8',
  })
    .trim()
    .split(',')
}

describe('a new rule', () => {
  test.each([
    ['catalog', 'src/checks/validation/rules/three-heads.ts', 'src/checks/validation/rules.ts', 'rules'],
    [
      'upgrade',
      'src/checks/validation/upgrade/three-heads.ts',
      'src/checks/validation/upgrade/rules.ts',
      'upgradeRules',
    ],
    ['bundle', 'src/bundle/rules/three-heads.ts', 'src/bundle/content-rules.ts', 'contentRules'],
    [
      'ownership',
      'src/checks/ownership/rules/three-heads.ts',
      'src/checks/ownership/rules.ts',
      'ownershipRules',
    ],
    ['commits', 'src/checks/commits/rules/three-heads.ts', 'src/checks/commits/rules.ts', 'commitRules'],
    ['image', 'src/checks/images/rules/three-heads.ts', 'src/checks/images/rules.ts', 'imageRules'],
    [
      'template',
      'src/checks/validation/templates/three-heads.ts',
      'src/checks/validation/templates/rules.ts',
      'templateRules',
    ],
    ['opm-load', 'src/catalog/load/load-rules.ts', 'src/catalog/load/rules.ts', 'loadRules'],
    [
      'opm-channel',
      'src/catalog/model/rules/channel-rules.ts',
      'src/catalog/model/rules/all.ts',
      'modelRules',
    ],
  ])(
    'of the kind %s has its words, a page, two examples and a place in a list, and loads',
    (kind, file, list, name) => {
      const written = writeRule(root, 'three-heads', kind)
      expect(written).toContain(file)
      expect(written).toContain('docs/rules/three-heads.md')
      for (const example of ['good/plain', 'bad/rename-me'])
        expect(written.some((path) => path.startsWith(`fixtures/rules/three-heads/${example}/`))).toBe(true)
      expect(idsIn(list, name)).toContain('three-heads')
      expect(idsIn('src/checks/all-rules.ts', 'allRules')).toContain('three-heads')
      expect(readFileSync(join(root, 'docs/rules/three-heads.md'), 'utf8')).toMatch(/^# three-heads\n/)
    },
  )

  test('has examples of its kind in which nothing is found', async () => {
    for (const [kind, { judges }] of Object.entries(kinds)) {
      for (const [path, text] of filesOf('three-heads', kind)) {
        mkdirSync(dirname(join(root, kind, path)), { recursive: true })
        writeFileSync(join(root, kind, path), text)
      }
      const [good] = readCasesOf('three-heads', join(root, kind, 'fixtures/rules'))
      const { findings } = await judgeCase({ ...good!, judges })
      expect({ kind, found: findings.map(({ rule }) => rule) }).toEqual({ kind, found: [] })
    }
  })

  test('about images has an example that names an image for the first time', () => {
    const files = filesOf('three-heads', 'image')
    const example = (tree: string) =>
      files.get(`fixtures/rules/three-heads/bad/rename-me/${tree}/catalog/foo/catalog.yaml`) ?? ''
    const [marked = ''] = example('result')
      .split('\n')
      .filter((line) => line.endsWith(' # three-heads'))
    expect(marked).toMatch(/^image: /)
    expect(example('base')).not.toContain(marked.replace(' # three-heads', ''))
  })

  test('keeps a list sorted by id', () => {
    writeRule(root, 'three-heads')
    const ids = idsIn('src/checks/validation/rules.ts', 'rules')
    expect(ids).toEqual(ids.toSorted())
  })

  test('overwrites nothing', () => {
    for (const kind of ['catalog', 'opm-bundle']) {
      writeRule(root, `of-${kind}`, kind)
      expect(() => writeRule(root, `of-${kind}`, kind)).toThrow(/exists already/)
    }
  })

  test('is refused where no list would hold it, and nothing is written', () => {
    rmSync(join(root, 'src/checks/commits/rules.ts'))
    expect(() => writeRule(root, 'three-heads', 'commits')).toThrow(/src\/checks\/commits\/rules has no list/)
    expect(existsSync(join(root, 'docs/rules/three-heads.md'))).toBe(false)
  })

  test('is the first of its folder where a list waits for it', () => {
    rmSync(join(root, 'src/checks/commits/rules'), { recursive: true })
    writeRule(root, 'three-heads', 'commits')
    const list = readFileSync(join(root, 'src/checks/commits/rules.ts'), 'utf8')
    expect(list).toContain('export const commitRules: readonly AnyRule[] = [threeHeads]\n')
  })

  test('is named in kebab-case, and is of a kind that there is', () => {
    for (const id of ['TwoHeads', 'two_heads', '../escape', '', '-x', 'x-', '2-heads'])
      expect(() => filesOf(id)).toThrow(TypeError)
    expect(() => filesOf('two-heads', 'song')).toThrow(/catalog, upgrade, bundle/)
    expect(Object.keys(kinds)).toContain('ownership')
  })
})
