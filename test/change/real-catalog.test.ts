import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { assemble } from '../../src/catalog/facts/assemble.ts'
import type { FileFacts } from '../../src/catalog/facts/catalog.ts'
import { readFile } from '../../src/catalog/load/read-file.ts'
import { describeChange } from '../../src/change/describe-change.ts'
import { blobSha } from '../../src/change/ids.ts'
import { upgradeRules } from '../../src/checks/validation/upgrade/rules.ts'
import { findIn } from '../../src/checks/validation/upgrade/upgrade-rule.ts'
import { changeAsText, describeChangeLines } from '../../src/messages/describe-change.ts'
import { sharedPath } from '../shared.ts'

const root = 'catalogs/v4.16'
const folder = sharedPath('community-operators', root)

/** The change that `edit` makes to one real file, with the catalog read by the real reader. */
function changeOf(path: string, edit: (text: string) => string) {
  if (folder === undefined) throw new Error('not here')
  const read = (name: string) => new Uint8Array(readFileSync(join(folder, name)))
  const names = readdirSync(folder).flatMap((name) =>
    readdirSync(join(folder, name)).map((file) => `${name}/${file}`),
  )
  const edited = new TextEncoder().encode(edit(new TextDecoder().decode(read(path))))
  const facts = new Map<string, FileFacts>(
    names
      .filter((name) => name < 'l' || name === path)
      .map((name) => [`${root}/${name}`, readFile(read(name))]),
  )
  const catalog = (files: Map<string, FileFacts>) =>
    assemble([...files].map(([file, its]) => ({ path: file, facts: its })))
  const file = `${root}/${path}`
  const entry = (digit: string) => ({ mode: '100644', oid: blobSha(digit.repeat(40)) })
  return describeChange({
    paths: [{ path: file, before: entry('0'), after: entry('1') }],
    layout: { catalogs: [{ root, version: '4.16' }] },
    catalogs: [
      {
        root,
        version: '4.16',
        base: catalog(facts),
        result: catalog(new Map([...facts, [file, readFile(edited)]])),
      },
    ],
    texts: { read: (side) => (side === 'base' ? read(path) : edited) },
  })
}

const say = (change: ReturnType<typeof changeOf>) => changeAsText(describeChangeLines(change))
const complaints = (change: ReturnType<typeof changeOf>) =>
  change.catalogs.flatMap((catalog) =>
    upgradeRules.flatMap((rule) => [...findIn(rule, catalog)].map((found) => found.rule)),
  )

const described = folder === undefined ? describe.skip : describe
described('on a real catalog', () => {
  const path = 'kube-green/catalog.yaml'
  test('another format of the same content is no change', () => {
    const change = changeOf(path, (text) =>
      `# a comment of the file\n${text.replace(/^name: (.*)$/gm, '"name":   \'$1\'')}`.replace(
        '# a comment of the file\n---\n',
        '---\n',
      ),
    )
    expect(change.paths.length).toBe(1)
    expect(change.catalogs[0]?.packages).toEqual([])
  })
  test('an edit anywhere in a bundle, also in what the facts leave out, is seen', () => {
    const change = changeOf(path, (text) =>
      text.replace(
        /data: (eyJ.{60})(.)/,
        (_, start: string, next: string) => `data: ${start}${next === 'A' ? 'B' : 'A'}`,
      ),
    )
    expect(say(change)).toEqual([
      'kube-green in 4.16:',
      expect.stringMatching(/^ {2}published bundle \S+ edited: properties$/),
    ])
    expect(complaints(change)).toEqual(['bundle-metadata-edited'])
  })
  test('taking the head back strands those who have it', () => {
    const change = changeOf(path, (text) =>
      text.replace(/- name: kube-green\.v0\.7\.1\n {2}replaces: .*\n/, ''),
    )
    expect(say(change)).toEqual(['kube-green in 4.16:', '  channel alpha: head 0.7.1 → 0.7.0; 0.7.1 removed'])
    expect(complaints(change)).toEqual(['head-moves-backwards', 'installed-version-stranded'])
  })
})
