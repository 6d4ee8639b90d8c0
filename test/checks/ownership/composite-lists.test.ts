// Composite lists: one file that references the images of many packages, with an owner for each entry. Every attack is
// a real pull request in a real repository, in which the owner of one entry tries to change another entry.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { formatChangeAsText, describeChangeLines } from '../../../src/report/describe-change.ts'
import type { OriginFiles } from '../../adapters/git/origin.ts'
import { catalogYaml } from './read-catalog-text.ts'
import {
  openOwnershipScenario,
  type OwnershipEvaluation,
  type OwnershipScenario,
} from './ownership-scenario.ts'

let scenario: OwnershipScenario
beforeAll(async () => {
  scenario = await openOwnershipScenario('lists')
  for (const login of ['alice', 'vera', 'maria', 'mallory', 'nina']) scenario.fakeAccounts.person(login)
})
afterAll(() => scenario.close())

const listImage = (digit: string) => `quay.io/test/list@sha256:${digit.repeat(64)}`
const listEntry = (name: string, digit: string) => `  - name: ${name}\n    image: ${listImage(digit)}\n`
const compositeList = (...entries: string[]) => `name: community\nreferences:\n${entries.join('')}`
const listPath = 'catalog-template.yaml'
const ownEntry = listEntry('mine', '1')
const victimEntry = listEntry('victim', '2')
const currentList = compositeList(ownEntry, victimEntry)

/** Alice owns `mine`, Vera owns `victim`, Maria maintains the repository. */
const baseFiles: OriginFiles = {
  'config.yaml': 'maintainers:\n  - maria\n',
  'operators/mine/ci.yaml': 'reviewers:\n  - alice\n',
  'operators/victim/ci.yaml': 'reviewers:\n  - vera\n',
  'catalog/mine/index.yaml': catalogYaml('mine', ['1.0.0']),
  'catalog/victim/index.yaml': catalogYaml('victim', ['1.0.0']),
  [listPath]: currentList,
}
const evaluateListChange = (list: string, author = 'alice', from = currentList, more: OriginFiles = {}) =>
  scenario.evaluatePull(
    { ...baseFiles, [listPath]: from },
    { ...baseFiles, ...more, [listPath]: list },
    { author },
  )
const formatFindings = ({ outcome }: OwnershipEvaluation) =>
  outcome.findings.map(({ rule, data }) => [rule, data?.['package']])
const listPathRoles = ({ input }: OwnershipEvaluation) =>
  input.change.paths.map((touched) => touched.role.kind)

describe('an owner', () => {
  test('can update the reference of their package alone', async () => {
    const judged = await evaluateListChange(compositeList(listEntry('mine', '3'), victimEntry))
    expect(judged.outcome.findings).toEqual([])
    expect(judged.verdict.kind).toBe('merge')
    expect(listPathRoles(judged)).toEqual(['references'])
    expect(judged.input.change.references).toMatchObject([
      {
        reference: listImage('3'),
        at: { file: listPath, line: 4, column: 12 },
        package: 'mine',
        role: 'listed',
      },
    ])
    expect(formatChangeAsText(describeChangeLines(judged.input.change))).toEqual([
      `composite file ${listPath}:`,
      `  reference mine: ${listImage('1')} → ${listImage('3')}`,
    ])
  })

  test('can do so in every location and style of a list', async () => {
    for (const [file, from, to] of [
      ['catalog.yaml', currentList, compositeList(listEntry('mine', '3'), victimEntry)],
      ['deploy/catalogs.yml', currentList, compositeList(listEntry('mine', '3'), victimEntry)],
      [
        listPath,
        `# who: 目录\n${currentList}# end\n`.replace('name: mine', '"name": "mine"'),
        `# who: 目录\n${currentList}# end\n`
          .replace('name: mine', '"name": "mine"')
          .replace(listImage('1'), listImage('3')),
      ],
      [
        listPath,
        currentList.replace('  - name: mine', '  # renovate: mine\n  - name: mine'),
        compositeList(`  # renovate: mine 2\n${listEntry('mine', '3')}`, victimEntry),
      ],
    ] as const) {
      const { [listPath]: _, ...rest } = baseFiles
      const judged = await scenario.evaluatePull(
        { ...rest, [file]: from },
        { ...rest, [file]: to },
        { author: 'alice' },
      )
      expect([file, judged.verdict.kind, formatFindings(judged)]).toEqual([file, 'merge', []])
    }
  })

  test('of another reference must approve only that reference', async () => {
    const judged = await evaluateListChange(compositeList(listEntry('mine', '3'), listEntry('victim', '4')))
    expect(formatFindings(judged)).toEqual([['not-owner', 'victim']])
    expect(judged.outcome.findings[0]?.at).toEqual({ file: listPath, line: 5, column: 11 })
    expect(judged.outcome.waiting).toEqual([{ what: 'an owner of victim must approve', who: ['vera'] }])
  })

  test('with the approval of the other owner can merge both changes in one file', async () => {
    const from = scenario.origin.commit(baseFiles)
    const head = scenario.origin.commit(
      { ...baseFiles, [listPath]: compositeList(listEntry('mine', '3'), listEntry('victim', '4')) },
      [from],
    )
    const judge = (login: string) =>
      scenario.evaluate(from, head, { author: 'alice', reviews: [scenario.createReview(login, head)] })
    expect((await judge('vera')).verdict.kind).toBe('merge')
    expect((await judge('mallory')).verdict.kind).toBe('wait')
  })

  test('needs a maintainer to add or remove any reference', async () => {
    expect(
      formatFindings(await evaluateListChange(compositeList(ownEntry, victimEntry, listEntry('other', '5')))),
    ).toEqual([['new-package', 'other']])
    expect(formatFindings(await evaluateListChange(compositeList(victimEntry)))).toEqual([
      ['consent-missing', 'mine'],
    ])
    expect(
      (await evaluateListChange(compositeList(ownEntry, victimEntry, listEntry('other', '5')), 'maria'))
        .verdict.kind,
    ).toBe('merge')
    expect((await evaluateListChange(compositeList(victimEntry), 'maria')).verdict.kind).toBe('merge')
  })
})

describe('the configuration of a list', () => {
  test('can let owners remove references, but still requires maintainers to add them', async () => {
    const config = {
      '.github/catalog-bot.yml':
        'permissions:\n  owner:\n    remove-package: alone\n    update-reference: owner\n',
    }
    const judge = (list: string) =>
      scenario.evaluatePull(
        { ...baseFiles, ...config },
        { ...baseFiles, ...config, [listPath]: list },
        { author: 'alice' },
      )
    expect((await judge(compositeList(victimEntry))).verdict.kind).toBe('merge')
    expect((await judge(compositeList(ownEntry))).verdict.kind).toBe('wait')
    expect(formatFindings(await judge(compositeList(listEntry('mine', '3'), victimEntry)))).toEqual([
      ['consent-missing', 'mine'],
    ])
    expect((await judge(compositeList(ownEntry, victimEntry, listEntry('other', '5')))).verdict.kind).toBe(
      'wait',
    )
  })

  test('can define the owners of a reference without a package', async () => {
    const config = { '.github/catalog-bot.yml': 'owners:\n  packages:\n    lonely: [nina]\n' }
    const from = compositeList(ownEntry, victimEntry, listEntry('lonely', '6'))
    const judge = (author: string) =>
      scenario.evaluatePull(
        { ...baseFiles, ...config, [listPath]: from },
        { ...baseFiles, ...config, [listPath]: from.replace(listImage('6'), listImage('7')) },
        { author },
      )
    expect((await judge('nina')).verdict.kind).toBe('merge')
    expect((await judge('alice')).verdict.kind).toBe('wait')
    const orphan = compositeList(ownEntry, victimEntry, listEntry('orphan', '6'))
    const changed = await evaluateListChange(orphan.replace(listImage('6'), listImage('7')), 'alice', orphan)
    expect(changed.verdict.kind).toBe('wait')
    expect(changed.outcome.waiting).toMatchObject([{ who: ['maria'] }])
  })
})

describe('a package whose directory has another name', () => {
  test('is owned by the owners of its directory, if the catalog is part of the change', async () => {
    const alias: OriginFiles = {
      ...baseFiles,
      'operators/alias-operator/ci.yaml': 'reviewers:\n  - nina\n',
      'catalog/alias-operator/index.yaml': catalogYaml('alias', ['1.0.0']),
      [listPath]: compositeList(ownEntry, victimEntry, listEntry('alias', '6')),
    }
    const head: OriginFiles = {
      ...alias,
      'catalog/mine/index.yaml': catalogYaml('mine', ['1.0.0', '1.1.0']),
      [listPath]: compositeList(ownEntry, victimEntry, listEntry('alias', '7')),
    }
    const judged = await scenario.evaluatePull(alias, head, { author: 'alice' })
    expect(judged.outcome.findings).toMatchObject([
      { rule: 'not-owner', data: { package: 'alias', owners: ['nina'] } },
    ])
  })
})

describe('T11: an owner of one entry', () => {
  const expectRejected = async (list: string, from = currentList) => {
    const judged = await evaluateListChange(list, 'alice', from)
    expect(judged.verdict.kind).not.toBe('merge')
    return judged
  }

  test.each([
    [
      'gives the other entry’s name to their image',
      compositeList(listEntry('victim', '1'), listEntry('mine', '2')),
    ],
    ['swaps the images of the two entries', compositeList(listEntry('mine', '2'), listEntry('victim', '1'))],
    ['renames their entry to the other entry’s name', compositeList(listEntry('victim', '1'), victimEntry)],
    ['removes the other entry', compositeList(listEntry('mine', '3'))],
    [
      'adds a second entry with the other entry’s name',
      compositeList(listEntry('mine', '3'), victimEntry, listEntry('victim', '4')),
    ],
    [
      'adds a second entry with the name in another case',
      compositeList(listEntry('mine', '3'), victimEntry, listEntry('Victim', '4')),
    ],
    ['reorders the entries', compositeList(victimEntry, listEntry('mine', '3'))],
    [
      'comments out the image of the other entry',
      compositeList(listEntry('mine', '3'), victimEntry.replace('    image', '    #image')),
    ],
    [
      'comments out the other entry',
      compositeList(listEntry('mine', '3'), victimEntry.replaceAll(/^/gm, '#')),
    ],
    [
      'changes the quotes of the other entry’s name',
      compositeList(ownEntry, victimEntry.replace('victim', '"victim"')),
    ],
    ['adds a field to the other entry', compositeList(ownEntry, `${victimEntry}    channel: evil\n`)],
    ['adds a field next to the list', `${currentList}extra: yes\n`],
    ['changes the name of the list', currentList.replace('community', 'evil')],
    ['renames the key of the list', currentList.replace('references:', 'References:')],
  ])('%s, and is not merged', async (_, list) => {
    await expectRejected(list)
  })

  test.each([
    [
      'an anchor and a merge key',
      compositeList(ownEntry.replace('- name', '- &a\n    name'), `${victimEntry}    <<: *a\n`),
    ],
    [
      'an alias for the image of the other entry',
      compositeList(ownEntry.replace('image: ', 'image: &i '), `  - name: victim\n    image: *i\n`),
    ],
    ['an anchor without an alias', compositeList(ownEntry.replace('image: ', 'image: &i '), victimEntry)],
    [
      'a second image in their entry',
      compositeList(`${ownEntry}    image: ${listImage('4')}\n`, victimEntry),
    ],
    [
      'a second image key in another case',
      compositeList(`${ownEntry}    Image: ${listImage('4')}\n`, victimEntry),
    ],
    ['a second name key in another case', compositeList(`${ownEntry}    NAME: victim\n`, victimEntry)],
    ['a second list', `${currentList}references:\n${listEntry('victim', '4')}`],
    ['a second list key in another case', `${currentList}REFERENCES:\n${listEntry('victim', '4')}`],
    ['a second document', `${currentList}---\n${compositeList(listEntry('victim', '4'))}`],
    ['a tag', compositeList(ownEntry.replace('image: ', 'image: !!str '), victimEntry)],
    ['a non-specific tag', compositeList(ownEntry.replace('image: ', 'image: ! '), victimEntry)],
    ['a name in hexadecimal', compositeList(ownEntry, victimEntry, listEntry('0x10', '4'))],
    ['an escape in a name', compositeList(ownEntry, victimEntry, listEntry('"v\\x69ctim"', '4'))],
    [
      'a line that ends only for some parsers',
      compositeList(listEntry('mine', '3').replace(/\n$/, ` # \u2028  - name: victim\n`), victimEntry),
    ],
    [
      'a line that ends at a next-line character',
      compositeList(listEntry('mine', '3').replace(/\n$/, ` # \u0085  - name: victim\n`), victimEntry),
    ],
    [
      'a carriage return without a line feed',
      compositeList(listEntry('mine', '3').replace(/\n$/, ` # \r  - name: victim\n`), victimEntry),
    ],
    [
      'characters that reverse the line',
      compositeList(listEntry('mine', '3').replace(/\n$/, ` # \u202e\n`), victimEntry),
    ],
    ['a string over several lines', compositeList(`${ownEntry}    note: "one\n      two"\n`, victimEntry)],
    ['a block scalar', compositeList(`${ownEntry}    note: |\n      - name: victim\n`, victimEntry)],
    [
      'entries on one line',
      `name: community\nreferences: [{name: mine, image: a}, {name: victim, image: b}]\n`,
    ],
    ['an entry in braces', compositeList(`  - {name: mine, image: "${listImage('3')}"}\n`, victimEntry)],
    [
      'an entry within an entry',
      compositeList(`${ownEntry}    more:\n      - name: victim\n        image: x\n`, victimEntry),
    ],
    ['an empty list', 'name: community\nreferences: []\n'],
    ['something that is not YAML', 'references: [\n'],
  ])('cannot hide a change with %s, which makes the file infrastructure', async (_, list) => {
    const judged = await expectRejected(list)
    expect(listPathRoles(judged)).toEqual(['infrastructure'])
    expect(judged.rules).toEqual(['outside-packages'])
    expect((await evaluateListChange(list, 'maria')).verdict.kind).not.toBe('merge')
  })

  test('cannot use a base that already contains the same construct', async () => {
    const from = compositeList(ownEntry.replace('image: ', 'image: &i '), `  - name: victim\n    image: *i\n`)
    expect(listPathRoles(await expectRejected(from.replace(listImage('1'), listImage('3')), from))).toEqual([
      'infrastructure',
    ])
  })

  test('cannot make the list a link or an executable file, or add another list', async () => {
    const mode = (list: OriginFiles[string]) =>
      scenario.evaluatePull(baseFiles, { ...baseFiles, [listPath]: list }, { author: 'alice' })
    expect((await mode({ mode: '120000', content: 'operators/mine/ci.yaml' })).verdict.kind).not.toBe('merge')
    const program = { mode: '100755', content: compositeList(listEntry('mine', '3'), victimEntry) } as const
    expect((await mode(program)).verdict.kind).not.toBe('merge')
    const own = await evaluateListChange(currentList, 'alice', currentList, {
      'catalogs.yaml': compositeList(listEntry('mine', '3')),
    })
    expect(listPathRoles(own)).toEqual(['infrastructure'])
    const hidden = { '.github/catalog.yaml': currentList }
    const judged = await scenario.evaluatePull(
      { ...baseFiles, ...hidden },
      { ...baseFiles, '.github/catalog.yaml': compositeList(listEntry('mine', '3'), victimEntry) },
      { author: 'alice' },
    )
    expect(listPathRoles(judged)).toEqual(['infrastructure'])
  })

  test('cannot add a name that looks like another entry', async () => {
    const from = compositeList(ownEntry, victimEntry, listEntry('illusion', '6'))
    const judged = await evaluateListChange(from + listEntry('il1usion', '7'), 'maria', from)
    expect(judged.rules).toContain('confusable-name')
  })
})

describe('an approval that is carried over', () => {
  test('covers the entire list, so a later change of another entry in the same file voids it', async () => {
    const config = { '.github/catalog-bot.yml': 'approvals:\n  carryOver: true\n' }
    const from = scenario.origin.commit({ ...baseFiles, ...config })
    const next = (list: string) =>
      scenario.origin.commit({ ...baseFiles, ...config, [listPath]: list }, [from])
    const first = next(compositeList(ownEntry, listEntry('victim', '4')))
    const options = { author: 'alice', configDigest: 'd' }
    const { computeChangeCoverage: coverage } = await import('../../../src/checks/ownership/ownership.ts')
    const seen = await scenario.evaluate(from, first, options)
    const vera = scenario.fakeAccounts.person('vera')
    const yes = {
      user: vera.id,
      login: 'vera',
      head: first,
      baseRef: 'main',
      epoch: 0,
      source: 'command' as const,
      sourceId: 1,
      config: 'd',
      covers: coverage(seen.input),
    }
    const judge = (list: string) =>
      scenario.evaluate(from, next(list), { ...options, epoch: 1, approvals: [yes] })
    expect((await judge(compositeList(ownEntry, listEntry('victim', '4')))).verdict.kind).toBe('merge')
    expect((await judge(compositeList(ownEntry, listEntry('victim', '5')))).verdict.kind).toBe('wait')
    expect((await judge(compositeList(listEntry('mine', '3'), listEntry('victim', '4')))).verdict.kind).toBe(
      'wait',
    )
  })
})
