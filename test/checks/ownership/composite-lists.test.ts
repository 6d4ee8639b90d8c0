// Composite lists: one file that references the images of many packages, with an owner for each entry. Every attack is
// a real pull request in a real repository, in which the owner of one entry tries to change another entry.
import { afterAll, describe, expect, test } from '@jest/globals'
import {
  formatDescriptionLinesAsText,
  describePullRequestChangeAsLines,
} from '../../../src/report/describe-change.ts'
import type { OriginFiles } from '../../adapters/git/origin.ts'
import { createCatalogYaml } from './read-catalog-text.ts'
import { createOwnershipScenario, type OwnershipEvaluation } from './ownership-scenario.ts'

const scenario = await createOwnershipScenario('lists')
const { fakeAccounts, evaluatePull, origin, createReview } = scenario
for (const login of ['alice', 'vera', 'maria', 'mallory', 'nina']) fakeAccounts.person(login)
afterAll(() => scenario.close())

const formatImage = (digit: string) => `quay.io/test/list@sha256:${digit.repeat(64)}`
const formatEntry = (name: string, digit: string) => `  - name: ${name}\n    image: ${formatImage(digit)}\n`
const formatList = (...entries: string[]) => `name: community\nreferences:\n${entries.join('')}`
const listPath = 'catalog-template.yaml'
const mineEntry = formatEntry('mine', '1')
const victimEntry = formatEntry('victim', '2')
const baseList = formatList(mineEntry, victimEntry)

const changedMineList = formatList(formatEntry('mine', '3'), victimEntry)

/** Alice owns `mine`, Vera owns `victim`, Maria maintains the repository. */
const baseFiles: OriginFiles = {
  'config.yaml': 'maintainers:\n  - maria\n',
  'operators/mine/ci.yaml': 'reviewers:\n  - alice\n',
  'operators/victim/ci.yaml': 'reviewers:\n  - vera\n',
  'catalog/mine/index.yaml': createCatalogYaml('mine', ['1.0.0']),
  'catalog/victim/index.yaml': createCatalogYaml('victim', ['1.0.0']),
  [listPath]: baseList,
}
const evaluateList = (list: string, author = 'alice', from = baseList, more: OriginFiles = {}) =>
  evaluatePull({ ...baseFiles, [listPath]: from }, { ...baseFiles, ...more, [listPath]: list }, { author })
const listFindings = ({ outcome }: OwnershipEvaluation) =>
  outcome.findings.map(({ rule, data }) => [rule, data?.['package']])
const listChangedPathRoles = ({ input }: OwnershipEvaluation) =>
  input.change.paths.map((touched) => touched.role.kind)

describe('an owner', () => {
  test('can update the reference of their package alone', async () => {
    const result = await evaluateList(changedMineList)
    expect(result.outcome.findings).toEqual([])
    expect(result.verdict.kind).toBe('merge')
    expect(listChangedPathRoles(result)).toEqual(['references'])
    expect(result.input.change.references).toMatchObject([
      {
        reference: formatImage('3'),
        at: { file: listPath, line: 4, column: 12 },
        package: 'mine',
        role: 'listed',
      },
    ])
    expect(formatDescriptionLinesAsText(describePullRequestChangeAsLines(result.input.change))).toEqual([
      `composite file ${listPath}:`,
      `  reference mine: ${formatImage('1')} → ${formatImage('3')}`,
    ])
  })

  test('can do so in every location and style of a list', async () => {
    for (const [file, from, to] of [
      ['catalog.yaml', baseList, changedMineList],
      ['deploy/catalogs.yml', baseList, changedMineList],
      [
        listPath,
        `# who: 目录\n${baseList}# end\n`.replace('name: mine', '"name": "mine"'),
        `# who: 目录\n${baseList}# end\n`
          .replace('name: mine', '"name": "mine"')
          .replace(formatImage('1'), formatImage('3')),
      ],
      [
        listPath,
        baseList.replace('  - name: mine', '  # renovate: mine\n  - name: mine'),
        formatList(`  # renovate: mine 2\n${formatEntry('mine', '3')}`, victimEntry),
      ],
    ] as const) {
      const { [listPath]: _, ...rest } = baseFiles
      const result = await evaluatePull(
        { ...rest, [file]: from },
        { ...rest, [file]: to },
        { author: 'alice' },
      )
      expect([file, result.verdict.kind, listFindings(result)]).toEqual([file, 'merge', []])
    }
  })

  test('of another reference must approve only that reference', async () => {
    const result = await evaluateList(formatList(formatEntry('mine', '3'), formatEntry('victim', '4')))
    expect(listFindings(result)).toEqual([['not-owner', 'victim']])
    expect(result.outcome.findings[0]?.at).toEqual({ file: listPath, line: 5, column: 11 })
    expect(result.outcome.waiting).toEqual([{ what: 'an owner of victim must approve', who: ['vera'] }])
  })

  test('with the approval of the other owner can merge both changes in one file', async () => {
    const from = origin.commit(baseFiles)
    const head = origin.commit(
      { ...baseFiles, [listPath]: formatList(formatEntry('mine', '3'), formatEntry('victim', '4')) },
      [from],
    )
    const evaluate = (login: string) =>
      scenario.evaluate(from, head, { author: 'alice', reviews: [createReview(login, head)] })
    expect((await evaluate('vera')).verdict.kind).toBe('merge')
    expect((await evaluate('mallory')).verdict.kind).toBe('wait')
  })

  test('needs a maintainer to add or remove any reference', async () => {
    expect(
      listFindings(await evaluateList(formatList(mineEntry, victimEntry, formatEntry('other', '5')))),
    ).toEqual([['new-package', 'other']])
    expect(listFindings(await evaluateList(formatList(victimEntry)))).toEqual([['consent-missing', 'mine']])
    expect(
      (await evaluateList(formatList(mineEntry, victimEntry, formatEntry('other', '5')), 'maria')).verdict
        .kind,
    ).toBe('merge')
    expect((await evaluateList(formatList(victimEntry), 'maria')).verdict.kind).toBe('merge')
  })
})

describe('the configuration of a list', () => {
  test('can let owners remove references, but still requires maintainers to add them', async () => {
    const config = {
      '.github/catalog-bot.yml':
        'permissions:\n  owner:\n    remove-package: alone\n    update-reference: owner\n',
    }
    const evaluate = (list: string) =>
      evaluatePull(
        { ...baseFiles, ...config },
        { ...baseFiles, ...config, [listPath]: list },
        { author: 'alice' },
      )
    expect((await evaluate(formatList(victimEntry))).verdict.kind).toBe('merge')
    expect((await evaluate(formatList(mineEntry))).verdict.kind).toBe('wait')
    expect(listFindings(await evaluate(changedMineList))).toEqual([['consent-missing', 'mine']])
    expect((await evaluate(formatList(mineEntry, victimEntry, formatEntry('other', '5')))).verdict.kind).toBe(
      'wait',
    )
  })

  test('can define the owners of a reference without a package', async () => {
    const config = { '.github/catalog-bot.yml': 'owners:\n  packages:\n    lonely: [nina]\n' }
    const from = formatList(mineEntry, victimEntry, formatEntry('lonely', '6'))
    const evaluate = (author: string) =>
      evaluatePull(
        { ...baseFiles, ...config, [listPath]: from },
        { ...baseFiles, ...config, [listPath]: from.replace(formatImage('6'), formatImage('7')) },
        { author },
      )
    expect((await evaluate('nina')).verdict.kind).toBe('merge')
    expect((await evaluate('alice')).verdict.kind).toBe('wait')
    const orphan = formatList(mineEntry, victimEntry, formatEntry('orphan', '6'))
    const changed = await evaluateList(orphan.replace(formatImage('6'), formatImage('7')), 'alice', orphan)
    expect(changed.verdict.kind).toBe('wait')
    expect(changed.outcome.waiting).toMatchObject([{ who: ['maria'] }])
  })
})

test('a package in a directory with another name is owned by the owners of its directory, if the catalog is part of the change', async () => {
  const alias: OriginFiles = {
    ...baseFiles,
    'operators/alias-operator/ci.yaml': 'reviewers:\n  - nina\n',
    'catalog/alias-operator/index.yaml': createCatalogYaml('alias', ['1.0.0']),
    [listPath]: formatList(mineEntry, victimEntry, formatEntry('alias', '6')),
  }
  const head: OriginFiles = {
    ...alias,
    'catalog/mine/index.yaml': createCatalogYaml('mine', ['1.0.0', '1.1.0']),
    [listPath]: formatList(mineEntry, victimEntry, formatEntry('alias', '7')),
  }
  expect((await evaluatePull(alias, head, { author: 'alice' })).outcome.findings).toMatchObject([
    { rule: 'not-owner', data: { package: 'alias', owners: ['nina'] } },
  ])
})

describe('T11: an owner of one entry', () => {
  const expectRejected = async (list: string, from = baseList) => {
    const result = await evaluateList(list, 'alice', from)
    expect(result.verdict.kind).not.toBe('merge')
    return result
  }

  test.each([
    [
      'gives the other entry’s name to their image',
      formatList(formatEntry('victim', '1'), formatEntry('mine', '2')),
    ],
    ['swaps the images of the two entries', formatList(formatEntry('mine', '2'), formatEntry('victim', '1'))],
    ['renames their entry to the other entry’s name', formatList(formatEntry('victim', '1'), victimEntry)],
    ['removes the other entry', formatList(formatEntry('mine', '3'))],
    [
      'adds a second entry with the other entry’s name',
      formatList(formatEntry('mine', '3'), victimEntry, formatEntry('victim', '4')),
    ],
    [
      'adds a second entry with the name in another case',
      formatList(formatEntry('mine', '3'), victimEntry, formatEntry('Victim', '4')),
    ],
    ['reorders the entries', formatList(victimEntry, formatEntry('mine', '3'))],
    [
      'comments out the image of the other entry',
      formatList(formatEntry('mine', '3'), victimEntry.replace('    image', '    #image')),
    ],
    [
      'comments out the other entry',
      formatList(formatEntry('mine', '3'), victimEntry.replaceAll(/^/gm, '#')),
    ],
    [
      'changes the quotes of the other entry’s name',
      formatList(mineEntry, victimEntry.replace('victim', '"victim"')),
    ],
    ['adds a field to the other entry', formatList(mineEntry, `${victimEntry}    channel: evil\n`)],
    ['adds a field next to the list', `${baseList}extra: yes\n`],
    ['changes the name of the list', baseList.replace('community', 'evil')],
    ['renames the key of the list', baseList.replace('references:', 'References:')],
  ])('%s, and is not merged', async (_, list) => {
    await expectRejected(list)
  })

  test.each([
    [
      'an anchor and a merge key',
      formatList(mineEntry.replace('- name', '- &a\n    name'), `${victimEntry}    <<: *a\n`),
    ],
    [
      'an alias for the image of the other entry',
      formatList(mineEntry.replace('image: ', 'image: &i '), `  - name: victim\n    image: *i\n`),
    ],
    ['an anchor without an alias', formatList(mineEntry.replace('image: ', 'image: &i '), victimEntry)],
    [
      'a second image in their entry',
      formatList(`${mineEntry}    image: ${formatImage('4')}\n`, victimEntry),
    ],
    [
      'a second image key in another case',
      formatList(`${mineEntry}    Image: ${formatImage('4')}\n`, victimEntry),
    ],
    ['a second name key in another case', formatList(`${mineEntry}    NAME: victim\n`, victimEntry)],
    ['a second list', `${baseList}references:\n${formatEntry('victim', '4')}`],
    ['a second list key in another case', `${baseList}REFERENCES:\n${formatEntry('victim', '4')}`],
    ['a second document', `${baseList}---\n${formatList(formatEntry('victim', '4'))}`],
    ['a tag', formatList(mineEntry.replace('image: ', 'image: !!str '), victimEntry)],
    ['a non-specific tag', formatList(mineEntry.replace('image: ', 'image: ! '), victimEntry)],
    ['a name in hexadecimal', formatList(mineEntry, victimEntry, formatEntry('0x10', '4'))],
    ['an escape in a name', formatList(mineEntry, victimEntry, formatEntry('"v\\x69ctim"', '4'))],
    [
      'a line that ends only for some parsers',
      formatList(formatEntry('mine', '3').replace(/\n$/, ` # \u2028  - name: victim\n`), victimEntry),
    ],
    [
      'a line that ends at a next-line character',
      formatList(formatEntry('mine', '3').replace(/\n$/, ` # \u0085  - name: victim\n`), victimEntry),
    ],
    [
      'a carriage return without a line feed',
      formatList(formatEntry('mine', '3').replace(/\n$/, ` # \r  - name: victim\n`), victimEntry),
    ],
    [
      'characters that reverse the line',
      formatList(formatEntry('mine', '3').replace(/\n$/, ` # \u202e\n`), victimEntry),
    ],
    ['a string over several lines', formatList(`${mineEntry}    note: "one\n      two"\n`, victimEntry)],
    ['a block scalar', formatList(`${mineEntry}    note: |\n      - name: victim\n`, victimEntry)],
    [
      'entries on one line',
      `name: community\nreferences: [{name: mine, image: a}, {name: victim, image: b}]\n`,
    ],
    ['an entry in braces', formatList(`  - {name: mine, image: "${formatImage('3')}"}\n`, victimEntry)],
    [
      'an entry within an entry',
      formatList(`${mineEntry}    more:\n      - name: victim\n        image: x\n`, victimEntry),
    ],
    ['an empty list', 'name: community\nreferences: []\n'],
    ['something that is not YAML', 'references: [\n'],
  ])('cannot hide a change with %s, which makes the file infrastructure', async (_, list) => {
    const result = await expectRejected(list)
    expect(listChangedPathRoles(result)).toEqual(['infrastructure'])
    expect(result.rules).toEqual(['outside-packages'])
    expect((await evaluateList(list, 'maria')).verdict.kind).not.toBe('merge')
  })

  test('cannot use a base that already contains the same construct', async () => {
    const from = formatList(mineEntry.replace('image: ', 'image: &i '), `  - name: victim\n    image: *i\n`)
    expect(
      listChangedPathRoles(await expectRejected(from.replace(formatImage('1'), formatImage('3')), from)),
    ).toEqual(['infrastructure'])
  })

  test('cannot make the list a link or an executable file, or add another list', async () => {
    const mode = (list: OriginFiles[string]) =>
      evaluatePull(baseFiles, { ...baseFiles, [listPath]: list }, { author: 'alice' })
    expect((await mode({ mode: '120000', content: 'operators/mine/ci.yaml' })).verdict.kind).not.toBe('merge')
    const program = { mode: '100755', content: changedMineList } as const
    expect((await mode(program)).verdict.kind).not.toBe('merge')
    const own = await evaluateList(baseList, 'alice', baseList, {
      'catalogs.yaml': formatList(formatEntry('mine', '3')),
    })
    expect(listChangedPathRoles(own)).toEqual(['infrastructure'])
    const hidden = { '.github/catalog.yaml': baseList }
    const result = await evaluatePull(
      { ...baseFiles, ...hidden },
      { ...baseFiles, '.github/catalog.yaml': changedMineList },
      { author: 'alice' },
    )
    expect(listChangedPathRoles(result)).toEqual(['infrastructure'])
  })

  test('cannot add a name that looks like another entry', async () => {
    const from = formatList(mineEntry, victimEntry, formatEntry('illusion', '6'))
    const result = await evaluateList(from + formatEntry('il1usion', '7'), 'maria', from)
    expect(result.rules).toContain('confusable-name')
  })
})

test('an approval that is carried over covers the entire list, so a later change of another entry in the same file voids it', async () => {
  const config = { '.github/catalog-bot.yml': 'approvals:\n  carryOver: true\n' }
  const from = origin.commit({ ...baseFiles, ...config })
  const next = (list: string) => origin.commit({ ...baseFiles, ...config, [listPath]: list }, [from])
  const first = next(formatList(mineEntry, formatEntry('victim', '4')))
  const options = { author: 'alice', configDigest: 'd' }
  const { getApprovalCoverageOfChange: coverage } =
    await import('../../../src/checks/ownership/ownership-context.ts')
  const seen = await scenario.evaluate(from, first, options)
  const vera = fakeAccounts.person('vera')
  const yes = {
    user: vera.id,
    login: 'vera',
    head: first,
    baseRef: 'main',
    epoch: 0,
    source: 'command' as const,
    config: 'd',
    covers: coverage(seen.input),
  }
  const evaluate = (list: string) =>
    scenario.evaluate(from, next(list), { ...options, epoch: 1, approvals: [yes] })
  expect((await evaluate(formatList(mineEntry, formatEntry('victim', '4')))).verdict.kind).toBe('merge')
  expect((await evaluate(formatList(mineEntry, formatEntry('victim', '5')))).verdict.kind).toBe('wait')
  expect(
    (await evaluate(formatList(formatEntry('mine', '3'), formatEntry('victim', '4')))).verdict.kind,
  ).toBe('wait')
})
