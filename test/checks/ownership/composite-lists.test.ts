// Composite lists: one file that references the images of many packages, with an owner for each entry. Every attack is
// a real pull request in a real repository, in which the owner of one entry tries to change another entry.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  formatDescriptionLinesAsText,
  describePullRequestChangeAsLines,
} from '../../../src/report/describe-change.ts'
import type { OriginFiles } from '../../adapters/git/origin.ts'
import { createCatalogYaml } from './read-catalog-text.ts'
import { createOwnershipScenario, type OwnershipEvaluation } from './ownership-scenario.ts'

const scenario = await createOwnershipScenario('lists')
beforeAll(async () => {
  for (const login of ['alice', 'vera', 'maria', 'mallory', 'nina']) scenario.fakeAccounts.person(login)
})
afterAll(() => scenario.close())

const formatTestImageReference = (digit: string) => `quay.io/test/list@sha256:${digit.repeat(64)}`
const createCompositeEntryYaml = (name: string, digit: string) =>
  `  - name: ${name}\n    image: ${formatTestImageReference(digit)}\n`
const createCompositeTemplateYaml = (...entries: string[]) =>
  `name: community\nreferences:\n${entries.join('')}`
const compositeTemplatePath = 'catalog-template.yaml'
const authorCompositeEntryYaml = createCompositeEntryYaml('mine', '1')
const victimCompositeEntryYaml = createCompositeEntryYaml('victim', '2')
const baseCompositeTemplateYaml = createCompositeTemplateYaml(
  authorCompositeEntryYaml,
  victimCompositeEntryYaml,
)

/** Alice owns `mine`, Vera owns `victim`, Maria maintains the repository. */
const baseBranchFiles: OriginFiles = {
  'config.yaml': 'maintainers:\n  - maria\n',
  'operators/mine/ci.yaml': 'reviewers:\n  - alice\n',
  'operators/victim/ci.yaml': 'reviewers:\n  - vera\n',
  'catalog/mine/index.yaml': createCatalogYaml('mine', ['1.0.0']),
  'catalog/victim/index.yaml': createCatalogYaml('victim', ['1.0.0']),
  [compositeTemplatePath]: baseCompositeTemplateYaml,
}
const evaluateCompositeTemplateChange = (
  list: string,
  author = 'alice',
  from = baseCompositeTemplateYaml,
  more: OriginFiles = {},
) =>
  scenario.evaluatePull(
    { ...baseBranchFiles, [compositeTemplatePath]: from },
    { ...baseBranchFiles, ...more, [compositeTemplatePath]: list },
    { author },
  )
const listFindingRulesAndPackages = ({ outcome }: OwnershipEvaluation) =>
  outcome.findings.map(({ rule, data }) => [rule, data?.['package']])
const listChangedPathRoles = ({ input }: OwnershipEvaluation) =>
  input.change.paths.map((touched) => touched.role.kind)

describe('an owner', () => {
  test('can update the reference of their package alone', async () => {
    const judged = await evaluateCompositeTemplateChange(
      createCompositeTemplateYaml(createCompositeEntryYaml('mine', '3'), victimCompositeEntryYaml),
    )
    expect(judged.outcome.findings).toEqual([])
    expect(judged.verdict.kind).toBe('merge')
    expect(listChangedPathRoles(judged)).toEqual(['references'])
    expect(judged.input.change.references).toMatchObject([
      {
        reference: formatTestImageReference('3'),
        at: { file: compositeTemplatePath, line: 4, column: 12 },
        package: 'mine',
        role: 'listed',
      },
    ])
    expect(formatDescriptionLinesAsText(describePullRequestChangeAsLines(judged.input.change))).toEqual([
      `composite file ${compositeTemplatePath}:`,
      `  reference mine: ${formatTestImageReference('1')} → ${formatTestImageReference('3')}`,
    ])
  })

  test('can do so in every location and style of a list', async () => {
    for (const [file, from, to] of [
      [
        'catalog.yaml',
        baseCompositeTemplateYaml,
        createCompositeTemplateYaml(createCompositeEntryYaml('mine', '3'), victimCompositeEntryYaml),
      ],
      [
        'deploy/catalogs.yml',
        baseCompositeTemplateYaml,
        createCompositeTemplateYaml(createCompositeEntryYaml('mine', '3'), victimCompositeEntryYaml),
      ],
      [
        compositeTemplatePath,
        `# who: 目录\n${baseCompositeTemplateYaml}# end\n`.replace('name: mine', '"name": "mine"'),
        `# who: 目录\n${baseCompositeTemplateYaml}# end\n`
          .replace('name: mine', '"name": "mine"')
          .replace(formatTestImageReference('1'), formatTestImageReference('3')),
      ],
      [
        compositeTemplatePath,
        baseCompositeTemplateYaml.replace('  - name: mine', '  # renovate: mine\n  - name: mine'),
        createCompositeTemplateYaml(
          `  # renovate: mine 2\n${createCompositeEntryYaml('mine', '3')}`,
          victimCompositeEntryYaml,
        ),
      ],
    ] as const) {
      const { [compositeTemplatePath]: _, ...rest } = baseBranchFiles
      const judged = await scenario.evaluatePull(
        { ...rest, [file]: from },
        { ...rest, [file]: to },
        { author: 'alice' },
      )
      expect([file, judged.verdict.kind, listFindingRulesAndPackages(judged)]).toEqual([file, 'merge', []])
    }
  })

  test('of another reference must approve only that reference', async () => {
    const judged = await evaluateCompositeTemplateChange(
      createCompositeTemplateYaml(
        createCompositeEntryYaml('mine', '3'),
        createCompositeEntryYaml('victim', '4'),
      ),
    )
    expect(listFindingRulesAndPackages(judged)).toEqual([['not-owner', 'victim']])
    expect(judged.outcome.findings[0]?.at).toEqual({ file: compositeTemplatePath, line: 5, column: 11 })
    expect(judged.outcome.waiting).toEqual([{ what: 'an owner of victim must approve', who: ['vera'] }])
  })

  test('with the approval of the other owner can merge both changes in one file', async () => {
    const from = scenario.origin.commit(baseBranchFiles)
    const head = scenario.origin.commit(
      {
        ...baseBranchFiles,
        [compositeTemplatePath]: createCompositeTemplateYaml(
          createCompositeEntryYaml('mine', '3'),
          createCompositeEntryYaml('victim', '4'),
        ),
      },
      [from],
    )
    const judge = (login: string) =>
      scenario.evaluate(from, head, { author: 'alice', reviews: [scenario.createReview(login, head)] })
    expect((await judge('vera')).verdict.kind).toBe('merge')
    expect((await judge('mallory')).verdict.kind).toBe('wait')
  })

  test('needs a maintainer to add or remove any reference', async () => {
    expect(
      listFindingRulesAndPackages(
        await evaluateCompositeTemplateChange(
          createCompositeTemplateYaml(
            authorCompositeEntryYaml,
            victimCompositeEntryYaml,
            createCompositeEntryYaml('other', '5'),
          ),
        ),
      ),
    ).toEqual([['new-package', 'other']])
    expect(
      listFindingRulesAndPackages(
        await evaluateCompositeTemplateChange(createCompositeTemplateYaml(victimCompositeEntryYaml)),
      ),
    ).toEqual([['consent-missing', 'mine']])
    expect(
      (
        await evaluateCompositeTemplateChange(
          createCompositeTemplateYaml(
            authorCompositeEntryYaml,
            victimCompositeEntryYaml,
            createCompositeEntryYaml('other', '5'),
          ),
          'maria',
        )
      ).verdict.kind,
    ).toBe('merge')
    expect(
      (await evaluateCompositeTemplateChange(createCompositeTemplateYaml(victimCompositeEntryYaml), 'maria'))
        .verdict.kind,
    ).toBe('merge')
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
        { ...baseBranchFiles, ...config },
        { ...baseBranchFiles, ...config, [compositeTemplatePath]: list },
        { author: 'alice' },
      )
    expect((await judge(createCompositeTemplateYaml(victimCompositeEntryYaml))).verdict.kind).toBe('merge')
    expect((await judge(createCompositeTemplateYaml(authorCompositeEntryYaml))).verdict.kind).toBe('wait')
    expect(
      listFindingRulesAndPackages(
        await judge(
          createCompositeTemplateYaml(createCompositeEntryYaml('mine', '3'), victimCompositeEntryYaml),
        ),
      ),
    ).toEqual([['consent-missing', 'mine']])
    expect(
      (
        await judge(
          createCompositeTemplateYaml(
            authorCompositeEntryYaml,
            victimCompositeEntryYaml,
            createCompositeEntryYaml('other', '5'),
          ),
        )
      ).verdict.kind,
    ).toBe('wait')
  })

  test('can define the owners of a reference without a package', async () => {
    const config = { '.github/catalog-bot.yml': 'owners:\n  packages:\n    lonely: [nina]\n' }
    const from = createCompositeTemplateYaml(
      authorCompositeEntryYaml,
      victimCompositeEntryYaml,
      createCompositeEntryYaml('lonely', '6'),
    )
    const judge = (author: string) =>
      scenario.evaluatePull(
        { ...baseBranchFiles, ...config, [compositeTemplatePath]: from },
        {
          ...baseBranchFiles,
          ...config,
          [compositeTemplatePath]: from.replace(formatTestImageReference('6'), formatTestImageReference('7')),
        },
        { author },
      )
    expect((await judge('nina')).verdict.kind).toBe('merge')
    expect((await judge('alice')).verdict.kind).toBe('wait')
    const orphan = createCompositeTemplateYaml(
      authorCompositeEntryYaml,
      victimCompositeEntryYaml,
      createCompositeEntryYaml('orphan', '6'),
    )
    const changed = await evaluateCompositeTemplateChange(
      orphan.replace(formatTestImageReference('6'), formatTestImageReference('7')),
      'alice',
      orphan,
    )
    expect(changed.verdict.kind).toBe('wait')
    expect(changed.outcome.waiting).toMatchObject([{ who: ['maria'] }])
  })
})

describe('a package whose directory has another name', () => {
  test('is owned by the owners of its directory, if the catalog is part of the change', async () => {
    const alias: OriginFiles = {
      ...baseBranchFiles,
      'operators/alias-operator/ci.yaml': 'reviewers:\n  - nina\n',
      'catalog/alias-operator/index.yaml': createCatalogYaml('alias', ['1.0.0']),
      [compositeTemplatePath]: createCompositeTemplateYaml(
        authorCompositeEntryYaml,
        victimCompositeEntryYaml,
        createCompositeEntryYaml('alias', '6'),
      ),
    }
    const head: OriginFiles = {
      ...alias,
      'catalog/mine/index.yaml': createCatalogYaml('mine', ['1.0.0', '1.1.0']),
      [compositeTemplatePath]: createCompositeTemplateYaml(
        authorCompositeEntryYaml,
        victimCompositeEntryYaml,
        createCompositeEntryYaml('alias', '7'),
      ),
    }
    expect((await scenario.evaluatePull(alias, head, { author: 'alice' })).outcome.findings).toMatchObject([
      { rule: 'not-owner', data: { package: 'alias', owners: ['nina'] } },
    ])
  })
})

describe('T11: an owner of one entry', () => {
  const expectRejected = async (list: string, from = baseCompositeTemplateYaml) => {
    const judged = await evaluateCompositeTemplateChange(list, 'alice', from)
    expect(judged.verdict.kind).not.toBe('merge')
    return judged
  }

  test.each([
    [
      'gives the other entry’s name to their image',
      createCompositeTemplateYaml(
        createCompositeEntryYaml('victim', '1'),
        createCompositeEntryYaml('mine', '2'),
      ),
    ],
    [
      'swaps the images of the two entries',
      createCompositeTemplateYaml(
        createCompositeEntryYaml('mine', '2'),
        createCompositeEntryYaml('victim', '1'),
      ),
    ],
    [
      'renames their entry to the other entry’s name',
      createCompositeTemplateYaml(createCompositeEntryYaml('victim', '1'), victimCompositeEntryYaml),
    ],
    ['removes the other entry', createCompositeTemplateYaml(createCompositeEntryYaml('mine', '3'))],
    [
      'adds a second entry with the other entry’s name',
      createCompositeTemplateYaml(
        createCompositeEntryYaml('mine', '3'),
        victimCompositeEntryYaml,
        createCompositeEntryYaml('victim', '4'),
      ),
    ],
    [
      'adds a second entry with the name in another case',
      createCompositeTemplateYaml(
        createCompositeEntryYaml('mine', '3'),
        victimCompositeEntryYaml,
        createCompositeEntryYaml('Victim', '4'),
      ),
    ],
    [
      'reorders the entries',
      createCompositeTemplateYaml(victimCompositeEntryYaml, createCompositeEntryYaml('mine', '3')),
    ],
    [
      'comments out the image of the other entry',
      createCompositeTemplateYaml(
        createCompositeEntryYaml('mine', '3'),
        victimCompositeEntryYaml.replace('    image', '    #image'),
      ),
    ],
    [
      'comments out the other entry',
      createCompositeTemplateYaml(
        createCompositeEntryYaml('mine', '3'),
        victimCompositeEntryYaml.replaceAll(/^/gm, '#'),
      ),
    ],
    [
      'changes the quotes of the other entry’s name',
      createCompositeTemplateYaml(
        authorCompositeEntryYaml,
        victimCompositeEntryYaml.replace('victim', '"victim"'),
      ),
    ],
    [
      'adds a field to the other entry',
      createCompositeTemplateYaml(authorCompositeEntryYaml, `${victimCompositeEntryYaml}    channel: evil\n`),
    ],
    ['adds a field next to the list', `${baseCompositeTemplateYaml}extra: yes\n`],
    ['changes the name of the list', baseCompositeTemplateYaml.replace('community', 'evil')],
    ['renames the key of the list', baseCompositeTemplateYaml.replace('references:', 'References:')],
  ])('%s, and is not merged', async (_, list) => {
    await expectRejected(list)
  })

  test.each([
    [
      'an anchor and a merge key',
      createCompositeTemplateYaml(
        authorCompositeEntryYaml.replace('- name', '- &a\n    name'),
        `${victimCompositeEntryYaml}    <<: *a\n`,
      ),
    ],
    [
      'an alias for the image of the other entry',
      createCompositeTemplateYaml(
        authorCompositeEntryYaml.replace('image: ', 'image: &i '),
        `  - name: victim\n    image: *i\n`,
      ),
    ],
    [
      'an anchor without an alias',
      createCompositeTemplateYaml(
        authorCompositeEntryYaml.replace('image: ', 'image: &i '),
        victimCompositeEntryYaml,
      ),
    ],
    [
      'a second image in their entry',
      createCompositeTemplateYaml(
        `${authorCompositeEntryYaml}    image: ${formatTestImageReference('4')}\n`,
        victimCompositeEntryYaml,
      ),
    ],
    [
      'a second image key in another case',
      createCompositeTemplateYaml(
        `${authorCompositeEntryYaml}    Image: ${formatTestImageReference('4')}\n`,
        victimCompositeEntryYaml,
      ),
    ],
    [
      'a second name key in another case',
      createCompositeTemplateYaml(`${authorCompositeEntryYaml}    NAME: victim\n`, victimCompositeEntryYaml),
    ],
    ['a second list', `${baseCompositeTemplateYaml}references:\n${createCompositeEntryYaml('victim', '4')}`],
    [
      'a second list key in another case',
      `${baseCompositeTemplateYaml}REFERENCES:\n${createCompositeEntryYaml('victim', '4')}`,
    ],
    [
      'a second document',
      `${baseCompositeTemplateYaml}---\n${createCompositeTemplateYaml(createCompositeEntryYaml('victim', '4'))}`,
    ],
    [
      'a tag',
      createCompositeTemplateYaml(
        authorCompositeEntryYaml.replace('image: ', 'image: !!str '),
        victimCompositeEntryYaml,
      ),
    ],
    [
      'a non-specific tag',
      createCompositeTemplateYaml(
        authorCompositeEntryYaml.replace('image: ', 'image: ! '),
        victimCompositeEntryYaml,
      ),
    ],
    [
      'a name in hexadecimal',
      createCompositeTemplateYaml(
        authorCompositeEntryYaml,
        victimCompositeEntryYaml,
        createCompositeEntryYaml('0x10', '4'),
      ),
    ],
    [
      'an escape in a name',
      createCompositeTemplateYaml(
        authorCompositeEntryYaml,
        victimCompositeEntryYaml,
        createCompositeEntryYaml('"v\\x69ctim"', '4'),
      ),
    ],
    [
      'a line that ends only for some parsers',
      createCompositeTemplateYaml(
        createCompositeEntryYaml('mine', '3').replace(/\n$/, ` # \u2028  - name: victim\n`),
        victimCompositeEntryYaml,
      ),
    ],
    [
      'a line that ends at a next-line character',
      createCompositeTemplateYaml(
        createCompositeEntryYaml('mine', '3').replace(/\n$/, ` # \u0085  - name: victim\n`),
        victimCompositeEntryYaml,
      ),
    ],
    [
      'a carriage return without a line feed',
      createCompositeTemplateYaml(
        createCompositeEntryYaml('mine', '3').replace(/\n$/, ` # \r  - name: victim\n`),
        victimCompositeEntryYaml,
      ),
    ],
    [
      'characters that reverse the line',
      createCompositeTemplateYaml(
        createCompositeEntryYaml('mine', '3').replace(/\n$/, ` # \u202e\n`),
        victimCompositeEntryYaml,
      ),
    ],
    [
      'a string over several lines',
      createCompositeTemplateYaml(
        `${authorCompositeEntryYaml}    note: "one\n      two"\n`,
        victimCompositeEntryYaml,
      ),
    ],
    [
      'a block scalar',
      createCompositeTemplateYaml(
        `${authorCompositeEntryYaml}    note: |\n      - name: victim\n`,
        victimCompositeEntryYaml,
      ),
    ],
    [
      'entries on one line',
      `name: community\nreferences: [{name: mine, image: a}, {name: victim, image: b}]\n`,
    ],
    [
      'an entry in braces',
      createCompositeTemplateYaml(
        `  - {name: mine, image: "${formatTestImageReference('3')}"}\n`,
        victimCompositeEntryYaml,
      ),
    ],
    [
      'an entry within an entry',
      createCompositeTemplateYaml(
        `${authorCompositeEntryYaml}    more:\n      - name: victim\n        image: x\n`,
        victimCompositeEntryYaml,
      ),
    ],
    ['an empty list', 'name: community\nreferences: []\n'],
    ['something that is not YAML', 'references: [\n'],
  ])('cannot hide a change with %s, which makes the file infrastructure', async (_, list) => {
    const judged = await expectRejected(list)
    expect(listChangedPathRoles(judged)).toEqual(['infrastructure'])
    expect(judged.rules).toEqual(['outside-packages'])
    expect((await evaluateCompositeTemplateChange(list, 'maria')).verdict.kind).not.toBe('merge')
  })

  test('cannot use a base that already contains the same construct', async () => {
    const from = createCompositeTemplateYaml(
      authorCompositeEntryYaml.replace('image: ', 'image: &i '),
      `  - name: victim\n    image: *i\n`,
    )
    expect(
      listChangedPathRoles(
        await expectRejected(
          from.replace(formatTestImageReference('1'), formatTestImageReference('3')),
          from,
        ),
      ),
    ).toEqual(['infrastructure'])
  })

  test('cannot make the list a link or an executable file, or add another list', async () => {
    const mode = (list: OriginFiles[string]) =>
      scenario.evaluatePull(
        baseBranchFiles,
        { ...baseBranchFiles, [compositeTemplatePath]: list },
        { author: 'alice' },
      )
    expect((await mode({ mode: '120000', content: 'operators/mine/ci.yaml' })).verdict.kind).not.toBe('merge')
    const program = {
      mode: '100755',
      content: createCompositeTemplateYaml(createCompositeEntryYaml('mine', '3'), victimCompositeEntryYaml),
    } as const
    expect((await mode(program)).verdict.kind).not.toBe('merge')
    const own = await evaluateCompositeTemplateChange(
      baseCompositeTemplateYaml,
      'alice',
      baseCompositeTemplateYaml,
      { 'catalogs.yaml': createCompositeTemplateYaml(createCompositeEntryYaml('mine', '3')) },
    )
    expect(listChangedPathRoles(own)).toEqual(['infrastructure'])
    const hidden = { '.github/catalog.yaml': baseCompositeTemplateYaml }
    const judged = await scenario.evaluatePull(
      { ...baseBranchFiles, ...hidden },
      {
        ...baseBranchFiles,
        '.github/catalog.yaml': createCompositeTemplateYaml(
          createCompositeEntryYaml('mine', '3'),
          victimCompositeEntryYaml,
        ),
      },
      { author: 'alice' },
    )
    expect(listChangedPathRoles(judged)).toEqual(['infrastructure'])
  })

  test('cannot add a name that looks like another entry', async () => {
    const from = createCompositeTemplateYaml(
      authorCompositeEntryYaml,
      victimCompositeEntryYaml,
      createCompositeEntryYaml('illusion', '6'),
    )
    const judged = await evaluateCompositeTemplateChange(
      from + createCompositeEntryYaml('il1usion', '7'),
      'maria',
      from,
    )
    expect(judged.rules).toContain('confusable-name')
  })
})

describe('an approval that is carried over', () => {
  test('covers the entire list, so a later change of another entry in the same file voids it', async () => {
    const config = { '.github/catalog-bot.yml': 'approvals:\n  carryOver: true\n' }
    const from = scenario.origin.commit({ ...baseBranchFiles, ...config })
    const next = (list: string) =>
      scenario.origin.commit({ ...baseBranchFiles, ...config, [compositeTemplatePath]: list }, [from])
    const first = next(
      createCompositeTemplateYaml(authorCompositeEntryYaml, createCompositeEntryYaml('victim', '4')),
    )
    const options = { author: 'alice', configDigest: 'd' }
    const { getApprovalCoverageOfChange: coverage } =
      await import('../../../src/checks/ownership/ownership-context.ts')
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
    expect(
      (
        await judge(
          createCompositeTemplateYaml(authorCompositeEntryYaml, createCompositeEntryYaml('victim', '4')),
        )
      ).verdict.kind,
    ).toBe('merge')
    expect(
      (
        await judge(
          createCompositeTemplateYaml(authorCompositeEntryYaml, createCompositeEntryYaml('victim', '5')),
        )
      ).verdict.kind,
    ).toBe('wait')
    expect(
      (
        await judge(
          createCompositeTemplateYaml(
            createCompositeEntryYaml('mine', '3'),
            createCompositeEntryYaml('victim', '4'),
          ),
        )
      ).verdict.kind,
    ).toBe('wait')
  })
})
