import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { type ParsedCatalogFile, assembleCatalog } from '../../packages/fbc/src/facts/catalog.ts'
import { parseCatalogFile } from '../../packages/fbc/src/load/parse-catalog-file.ts'
import { describePullRequestChange } from '../../src/pull-request/describe-change.ts'
import { toBlobSha } from '../../src/pull-request/ids.ts'
import { upgradeRules } from '../../src/checks/validation/upgrade/rules.ts'
import { runUpgradeRule } from '../../src/checks/validation/upgrade/upgrade-rule.ts'
import {
  formatDescriptionLinesAsText,
  describePullRequestChangeAsLines,
} from '../../src/report/describe-change.ts'
import { findSharedPath } from '../shared-data.ts'

const catalogRoot = 'catalogs/v4.16'
const catalogDirectory = findSharedPath('community-operators', catalogRoot)

/** The change that `edit` makes to one file of the real catalog. */
function buildCatalogChange(path: string, edit: (text: string) => string) {
  if (catalogDirectory === undefined) throw new Error('not here')
  const read = (name: string) => new Uint8Array(readFileSync(join(catalogDirectory, name)))
  const names = readdirSync(catalogDirectory).flatMap((name) =>
    readdirSync(join(catalogDirectory, name)).map((file) => `${name}/${file}`),
  )
  const edited = new TextEncoder().encode(edit(new TextDecoder().decode(read(path))))
  const facts = new Map<string, ParsedCatalogFile>(
    names
      .filter((name) => name < 'l' || name === path)
      .map((name) => [`${catalogRoot}/${name}`, parseCatalogFile(read(name))]),
  )
  const catalog = (files: Map<string, ParsedCatalogFile>) =>
    assembleCatalog([...files].map(([file, its]) => ({ path: file, facts: its })))
  const file = `${catalogRoot}/${path}`
  const entry = (digit: string) => ({ mode: '100644', oid: toBlobSha(digit.repeat(40)) })
  return describePullRequestChange({
    paths: [{ path: file, before: entry('0'), after: entry('1') }],
    layout: { catalogs: [{ root: catalogRoot, version: '4.16' }] },
    catalogs: [
      {
        root: catalogRoot,
        version: '4.16',
        base: catalog(facts),
        result: catalog(new Map([...facts, [file, parseCatalogFile(edited)]])),
      },
    ],
    treeFiles: { read: (side) => (side === 'base' ? read(path) : edited) },
  })
}

const formatCatalogChange = (change: ReturnType<typeof buildCatalogChange>) =>
  formatDescriptionLinesAsText(describePullRequestChangeAsLines(change))
const findUpgradeFindings = (change: ReturnType<typeof buildCatalogChange>) =>
  change.catalogs.flatMap((catalog) =>
    upgradeRules.flatMap((rule) => [...runUpgradeRule(rule, catalog)].map((found) => found.rule)),
  )

const describeIfCatalogExists = catalogDirectory === undefined ? describe.skip : describe
describeIfCatalogExists('on a real catalog', () => {
  const path = 'kube-green/catalog.yaml'
  test('another format of the same content is no change', () => {
    const change = buildCatalogChange(path, (text) =>
      `# a comment of the file\n${text.replace(/^name: (.*)$/gm, '"name":   \'$1\'')}`.replace(
        '# a comment of the file\n---\n',
        '---\n',
      ),
    )
    expect(change.paths.length).toBe(1)
    expect(change.catalogs[0]?.packages).toEqual([])
  })
  test('an edit anywhere in a bundle is found, even in fields that the facts omit', () => {
    const change = buildCatalogChange(path, (text) =>
      text.replace(
        /data: (eyJ.{60})(.)/,
        (_, start: string, next: string) => `data: ${start}${next === 'A' ? 'B' : 'A'}`,
      ),
    )
    expect(formatCatalogChange(change)).toEqual([
      'kube-green in 4.16:',
      expect.stringMatching(/^ {2}published bundle \S+ edited: properties$/),
    ])
    expect(findUpgradeFindings(change)).toEqual(['bundle-metadata-edited'])
  })
  test('removing the head strands clusters that installed it', () => {
    const change = buildCatalogChange(path, (text) =>
      text.replace(/- name: kube-green\.v0\.7\.1\n {2}replaces: .*\n/, ''),
    )
    expect(formatCatalogChange(change)).toEqual([
      'kube-green in 4.16:',
      '  channel alpha: head 0.7.1 → 0.7.0; 0.7.1 removed',
    ])
    expect(findUpgradeFindings(change)).toEqual(['head-moves-backwards', 'installed-version-stranded'])
  })
})
