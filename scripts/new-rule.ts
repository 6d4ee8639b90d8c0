// Starts a rule of any kind: its file, its page, a good and a bad example, and its entry in the list of its folder.
// The generated code runs, but its tests fail until a developer implements the rule. `npm run new-rule ID [KIND
// [SUITE]]` does not overwrite any file.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type CheckId, checkIds } from '../packages/findings/src/checks.ts'
import { type RuleSubjectKind, ruleSuiteNames } from '@catalog-bot/findings/rule'
import { findListedRuleFolders, renderRuleLists, toCamelCase } from './rule-lists.ts'
import { updateGeneratedFiles } from './workspaces.ts'

const projectRoot = join(import.meta.dirname, '..')

interface RuleKind {
  readonly check: CheckId
  readonly judges: RuleSubjectKind
  /** The folder that gets a file, or the file that gets another rule. */
  readonly source: string
  /** The kind of `Search`, and the module that exports it. Absent for rules that describe findings of other code. */
  readonly search?: { readonly type: string; readonly from: string; readonly find: string }
  /** For rules without a search: the code that finds violations. */
  readonly foundIn?: string
  readonly isFixed?: true
  /** Its examples name an image for the first time, because only new images are checked. */
  readonly namesImage?: true
  /** Its examples add a bundle as a directory. */
  readonly addsDirectory?: true
  /** Its examples have a template next to the catalog. */
  readonly hasTemplate?: true
  /** The function of its table that defines rules and adds the fields they share. */
  readonly shared?: string
}

const createOpmRuleKind = (source: string, foundIn: string): RuleKind => ({
  check: 'validation',
  judges: 'catalog',
  source,
  foundIn,
  isFixed: true,
  shared: 'defineOpmRule',
})

const createCheckRuleKind = (check: CheckId, shared?: string): RuleKind => ({
  check,
  judges: 'pull request',
  source: `src/checks/${check}/rules.ts`,
  foundIn: `src/checks/${check}/${check}.ts`,
  ...(shared !== undefined && { shared }),
})

const namedRuleKinds: Readonly<Record<string, RuleKind>> = {
  catalog: {
    check: 'validation',
    judges: 'catalog',
    source: 'src/checks/validation/rules',
    search: {
      type: 'CatalogRuleInputAndHit',
      from: '../catalog-rule.ts',
      find: `  *find({ catalog }) {
    for (const { name, package: its, place } of catalog.bundles)
      if (name === 'wrong') yield { at: toFindingLocation(place), about: [its, name], data: { name } }
  },
`,
    },
  },
  upgrade: {
    check: 'validation',
    judges: 'pull request',
    source: 'src/checks/validation/upgrade',
    search: {
      type: 'UpgradeRuleInputAndHit',
      from: './upgrade-rule.ts',
      find: `  *find({ bundles }) {
    for (const { name, place } of bundles.added)
      if (name === 'wrong') yield { at: toFindingLocation(place), about: [name], data: { name } }
  },
`,
    },
  },
  bundle: {
    check: 'images',
    judges: 'bundle',
    source: 'packages/bundle/src/rules',
    search: {
      type: 'BundleRuleInputAndHit',
      from: '../bundle-rule.ts',
      find: `  *find({ csv }) {
    const name = getStringAtPath(csv.data, 'metadata', 'name')
    if (name === 'wrong') yield { path: ['metadata', 'name'], data: { name } }
  },
`,
    },
  },
  template: {
    check: 'validation',
    judges: 'pull request',
    source: 'src/checks/validation/templates/rules.ts',
    foundIn: 'src/checks/validation/templates/templates.ts',
    hasTemplate: true,
  },
  'bundle-directory': {
    check: 'validation',
    judges: 'pull request',
    source: 'src/checks/bundles/rules.ts',
    shared: 'defineBundleDirectoryRule',
    foundIn: 'src/checks/bundles/validate-bundle-directories.ts',
    addsDirectory: true,
  },
  install: createCheckRuleKind('install', 'defineInstallRule'),
  image: { ...createCheckRuleKind('images', 'defineImageRule'), namesImage: true },
  ownership: createCheckRuleKind('ownership', 'defineOwnershipRule'),
  commits: {
    check: 'ownership',
    judges: 'pull request',
    source: 'src/checks/commits/rules.ts',
    shared: 'defineCommitRule',
    foundIn: 'src/checks/commits/validate-incoming-commits.ts',
  },
  'opm-load': createOpmRuleKind(
    'packages/fbc/src/load/load-rules.ts',
    'packages/fbc/src/load/parse-catalog-file.ts',
  ),
  'opm-package': createOpmRuleKind(
    'packages/fbc/src/model/rules/package-rules.ts',
    'packages/fbc/src/model/convert-to-model.ts',
  ),
  'opm-channel': createOpmRuleKind(
    'packages/fbc/src/model/rules/channel-rules.ts',
    'packages/fbc/src/model/convert-to-model.ts',
  ),
  'opm-bundle': createOpmRuleKind(
    'packages/fbc/src/model/rules/bundle-rules.ts',
    'packages/fbc/src/model/convert-blobs.ts',
  ),
  'opm-deprecation': createOpmRuleKind(
    'packages/fbc/src/model/rules/deprecation-rules.ts',
    'packages/fbc/src/model/convert-blobs.ts',
  ),
}

const namedCheckIds = new Set(Object.values(namedRuleKinds).map(({ check }) => check))

/** The subjects of rules, for developers who start one. A check without a named kind is a kind. */
export const ruleKinds: Readonly<Record<string, RuleKind>> = {
  ...namedRuleKinds,
  ...Object.fromEntries(
    checkIds.filter((id) => !namedCheckIds.has(id)).map((id) => [id, createCheckRuleKind(id)]),
  ),
}

/**
 * The new files of a rule, by path from the root. Throws a TypeError for an ID that is not kebab-case, for an
 * unknown kind, and for a suite that is unknown or does not support the kind.
 */
export function createRuleFiles(id: string, kindName = 'catalog', suite?: string): Map<string, string> {
  if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(id))
    throw new TypeError(`the rule ID must be kebab-case, but is "${id}"`)
  const kind = ruleKinds[kindName]
  if (kind === undefined)
    throw new TypeError(`the kind must be one of ${Object.keys(ruleKinds).join(', ')}, but is "${kindName}"`)
  if (suite !== undefined && !ruleSuiteNames.some((one) => one === suite))
    throw new TypeError(`the suite must be one of ${ruleSuiteNames.join(', ')}, but is "${suite}"`)
  if (suite !== undefined && kind.judges !== 'bundle')
    throw new TypeError('only rules about bundles can belong to a suite')
  const examples = `fixtures/rules/${id}`
  return new Map([
    ...(kind.source.endsWith('.ts')
      ? []
      : [[`${kind.source}/${id}.ts`, renderRuleFile(id, kind, suite)] as const]),
    [`docs/rules/${id}.md`, renderRulePage(id)],
    ...createExampleFiles(kind, suite).map(
      ([path, text]) => [`${examples}/good/plain/${path}`, text] as const,
    ),
    ...createExampleFiles(kind, suite, id).map(
      ([path, text]) => [`${examples}/bad/rename-me/${path}`, text] as const,
    ),
  ])
}

/** `two-heads` is exported as `twoHeads`. */
function toExportName(id: string): string {
  return `${toCamelCase(id)}Rule`
}

function renderRuleFile(id: string, kind: RuleKind, suite?: string): string {
  const places = kind.search && kind.judges !== 'bundle'
  return [
    '// Describe the problem, and who is likely to overlook it.',
    `import { defineRule } from '@catalog-bot/findings/rule'`,
    ...(places && kind.search.type === 'CatalogRuleInputAndHit'
      ? [`import { toFindingLocation, type CatalogRuleInputAndHit } from '${kind.search.from}'`]
      : []),
    ...(places && kind.search.type !== 'CatalogRuleInputAndHit'
      ? ["import { toFindingLocation } from '../catalog-rule.ts'"]
      : []),
    ...(kind.search && kind.search.type !== 'CatalogRuleInputAndHit'
      ? [`import type { ${kind.search.type} } from '${kind.search.from}'`]
      : []),
    ...(kind.search?.type === 'BundleRuleInputAndHit'
      ? ["import { getStringAtPath } from '../fields.ts'"]
      : []),
    '',
    renderRuleBody(id, kind, suite),
  ].join('\n')
}

function renderRuleBody(
  id: string,
  { check, judges, search, isFixed, shared }: RuleKind,
  suite?: string,
): string {
  if (shared !== undefined)
    return renderRuleBody(id, { check, judges, source: '', ...(isFixed && { isFixed }) }, suite)
      .replace('defineRule', shared)
      .replace(/^ {2}(?:check|judges|since|fixed|severity: 'error').*\n/gm, '')
  return `export const ${toExportName(id)} = defineRule<{ name: string }${search ? `, ${search.type}` : ''}>({
  id: '${id}',
  check: '${check}',
  judges: '${judges}',
  severity: '${isFixed ? 'error' : 'warning'}',
  since: '0.1.0',
${isFixed ? '  fixed: true,\n' : ''}${judges === 'bundle' ? '  network: true,\n' : ''}${suite === undefined ? '' : `  suite: '${suite}',\n`}  title: 'What the rule requires',
  what: ({ name }) => \`\${name} is wrong\`,
  why: 'Why it matters to users who install Operators.',
  fix: 'How to fix it.',
${search?.find ?? ''}})
`
}

function renderRulePage(id: string): string {
  return `# ${id}

_(generated)_

Describe the problem, and add facts that the rule's messages do not contain.

In [this example](../../fixtures/rules/${id}/bad/rename-me), catalog-bot reports:
`
}

/** An example without findings. With an ID, the location of the violation is marked. */
function createExampleFiles(
  { judges, namesImage, addsDirectory, hasTemplate }: RuleKind,
  suite?: string,
  id?: string,
): readonly (readonly [path: string, text: string])[] {
  const catalog = (version: string) => renderExampleCatalog(version, id)
  switch (judges) {
    case 'catalog':
      return [['catalog.yaml', catalog('1.0.0')]]
    case 'bundle':
      return (
        readGoodSuiteExample(suite, id) ?? [
          ['manifests/csv.yaml', renderExampleCsv(id)],
          ['metadata/annotations.yaml', exampleAnnotationsText],
        ]
      )
    case 'pull request':
      if (hasTemplate) return createExampleTemplateFiles(id)
      if (addsDirectory) return createExampleBundleDirectories(id)
      return [
        ['base/.github/catalog-bot.yml', exampleConfigText],
        ['result/.github/catalog-bot.yml', exampleConfigText],
        ['base/catalog/foo/catalog.yaml', renderExampleCatalog('1.0.0')],
        [
          'result/catalog/foo/catalog.yaml',
          namesImage
            ? renderCatalogWithNewBundle(id)
            : catalog('1.0.0').replace('displayName: Foo', 'displayName: Foo Operator'),
        ],
        ['_case.json', '{\n  "reviews": { "maria": "approved" }\n}\n'],
      ]
  }
}

/**
 * The files of a good example of another rule in the suite, which passes the whole suite. Undefined if the suite is
 * empty.
 */
function readGoodSuiteExample(
  suite: string | undefined,
  id: string | undefined,
): readonly (readonly [path: string, text: string])[] | undefined {
  if (suite === undefined) return undefined
  const rules = join(projectRoot, 'packages/bundle/src/rules')
  const [other] = readdirSync(rules)
    .flatMap((file) => readFileSync(join(rules, file), 'utf8').split(/^export const /m))
    .filter((text) => text.includes(`  suite: '${suite}',\n`))
    .map((text) => /^ +id: '(?<id>[^']*)'/m.exec(text)?.groups?.['id'] ?? '')
    .sort()
  if (other === undefined) return undefined
  const good = join(projectRoot, 'fixtures/rules', other, 'good')
  const example = join(good, readdirSync(good).sort()[0] ?? '')
  return readdirSync(example, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry): [string, string] => {
      const path = join(entry.parentPath, entry.name)
      const text = readFileSync(path, 'utf8')
      const isMarked = id !== undefined && /^kind: ClusterServiceVersion$/m.test(text)
      return [
        path.slice(example.length + 1),
        isMarked ? text.replace(/^metadata:\n(?: .*\n)*? {2}name: .*$/m, `$& # ${id}`) : text,
      ]
    })
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

/** A template and its catalog, which both get another channel. */
function createExampleTemplateFiles(id?: string): readonly (readonly [path: string, text: string])[] {
  const tree = (name: string, channels: readonly string[], mark = '') =>
    [
      [`${name}/.github/catalog-bot.yml`, exampleTemplateConfigText],
      [`${name}/operators/foo/ci.yaml`, 'reviewers: [alice, bob]\n'],
      [
        `${name}/operators/foo/catalog-templates/v4.20.yaml`,
        renderExampleTemplate(channels).replace(/^schema: .*$/m, `$&${mark}`),
      ],
      [
        `${name}/catalogs/v4.20/foo/catalog.yaml`,
        `${renderExampleCatalog('1.0.0')}${channels.map((channel) => `---\n${renderExampleChannel(channel)}`).join('')}`,
      ],
    ] as const
  return [
    ...tree('base', []),
    ...tree('result', ['fast'], id === undefined ? '' : ` # ${id}`),
    ['_case.json', '{\n  "reviews": { "maria": "approved" }\n}\n'],
  ]
}

/** A package of bundle directories that gets another one. */
function createExampleBundleDirectories(id?: string): readonly (readonly [path: string, text: string])[] {
  const package_ = (tree: string) =>
    [
      [`${tree}/.github/catalog-bot.yml`, 'owners:\n  maintainers: [maria]\n'],
      [`${tree}/operators/foo/ci.yaml`, 'updateGraph: replaces-mode\nreviewers: [alice, bob]\n'],
      ...createExampleBundleDirectory(`${tree}/operators/foo/1.0.0`, renderExampleCsv()),
    ] as const
  const next = renderExampleCsv(id)
    .replaceAll('1.0.0', '1.1.0')
    .replace('  version: 1.1.0\n', '$&  replaces: foo.v1.0.0\n')
  return [
    ...package_('base'),
    ...package_('result'),
    ...createExampleBundleDirectory('result/operators/foo/1.1.0', next),
  ]
}

const createExampleBundleDirectory = (directory: string, csv: string) =>
  [
    [`${directory}/manifests/foo.clusterserviceversion.yaml`, csv],
    [`${directory}/metadata/annotations.yaml`, exampleAnnotationsText],
  ] as const

/** The files that examples are made from. */
function readTemplate(name: string): string {
  return readFileSync(join(import.meta.dirname, 'new-rule', name), 'utf8')
}

/** Marks the line with the violation. */
function markLine(text: string, line: RegExp, id: string | undefined): string {
  return id === undefined ? text : text.replace(line, `$& # ${id}`)
}

const exampleConfigText = readTemplate('config.yml')

const exampleTemplateConfigText = readTemplate('template-config.yml')

const renderExampleChannel = (name: string) => `schema: olm.channel
package: foo
name: ${name}
entries:
  - name: foo.v1.0.0
`

function renderExampleTemplate(channels: readonly string[]): string {
  const entry = (text: string) => text.replaceAll(/^(?=.)/gm, '    ').replace('    ', '  - ')
  return `schema: olm.template.basic
entries:
${[
  'schema: olm.package\nname: foo\ndefaultChannel: stable\n',
  ...['stable', ...channels].map(renderExampleChannel),
  `schema: olm.bundle\nimage: ${exampleImage}\n`,
]
  .map(entry)
  .join('')}`
}

const exampleImage = `quay.io/example/foo@sha256:${'0123456789abcdef'.repeat(4)}`

function renderExampleCatalog(version: string, id?: string): string {
  return markLine(readTemplate('catalog.yaml').replaceAll('1.0.0', version), /^schema: olm.bundle$/m, id)
}

/** The catalog with another bundle, whose image is new. */
function renderCatalogWithNewBundle(id?: string): string {
  const old = renderExampleCatalog('1.0.0')
  const added = renderExampleCatalog('1.1.0')
    .slice(renderExampleCatalog('1.1.0').indexOf('schema: olm.bundle'))
    .replaceAll(exampleImage, exampleImage.replace('sha256:01', 'sha256:11'))
    .replace(/^image: .*$/m, (line) => (id === undefined ? line : `${line} # ${id}`))
  return `${old.replace('  - name: foo.v1.0.0\n', '$&  - name: foo.v1.1.0\n    replaces: foo.v1.0.0\n')}---\n${added}`
}

function renderExampleCsv(id?: string): string {
  return markLine(readTemplate('csv.yaml'), /^ {2}name: .*$/m, id)
}

const exampleAnnotationsText = readTemplate('annotations.yaml')

/**
 * Writes a new rule below `root`, and returns the written paths. Throws an Error if one of its files exists, or if
 * no list would contain the rule.
 */
export function writeRule(root: string, id: string, kindName = 'catalog', suite?: string): string[] {
  const files = createRuleFiles(id, kindName, suite)
  for (const path of files.keys()) if (existsSync(join(root, path))) throw new Error(`${path} already exists`)
  const kind = ruleKinds[kindName]
  // A file that gets another rule is already listed.
  if (kind && !kind.source.endsWith('.ts') && !findListedRuleFolders(root).has(kind.source))
    throw new Error(`${kind.source} has no rule list; see CONTRIBUTING.md for how to create one`)
  if (kind?.source.endsWith('.ts')) {
    const text = readFileSync(join(root, kind.source), 'utf8')
    if (text.includes(`id: '${id}'`)) throw new Error(`${kind.source} already contains a rule "${id}"`)
    files.set(kind.source, `${addDefineRuleImport(text)}\n${renderRuleBody(id, kind)}`)
  }
  for (const [path, text] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return [...files.keys(), ...updateGeneratedFiles(root, renderRuleLists(root), false)]
}

/** The table of a new check has no rule yet, so it imports nothing. */
function addDefineRuleImport(text: string): string {
  return text.replace('export {}\n', "import { defineRule } from '@catalog-bot/findings/rule'\n")
}

/** The remaining steps for a new rule, for the developer. */
export function describeNextSteps(id: string, kindName = 'catalog'): string {
  const kind = ruleKinds[kindName]
  const where = kind?.source.endsWith('.ts') === false ? `${kind.source}/${id}.ts` : kind?.source
  return `Next steps:
1. In ${where}, describe what the rule requires, and ${describeFindFunctionStep(id, kind)}
2. Change fixtures/rules/${id}/bad/rename-me so that it breaks the rule. Put "# ${id}" at the end of the line with the
   finding, or remove it if the finding has no line. Rename the folder after the reason.
3. In docs/rules/${id}.md, describe the problem, and link to the renamed folder. Then run \`npm run rule-pages\`.
4. Run \`npm test -- test/checks/rules.test.ts test/scripts/rule-pages.test.ts\`.
For details, see "A rule in six steps" in CONTRIBUTING.md.
`
}

function describeFindFunctionStep(id: string, kind: RuleKind | undefined): string {
  if (kind?.foundIn === undefined) return 'implement its "find" function.'
  if (kind.isFixed)
    return `report violations where opm does, with opm's message,
   in ${kind.foundIn} or a file next to it.`
  return `report violations with createFinding(${toExportName(id)}, place, data)
   in ${kind.foundIn} or a file next to it.`
}

const usageText = `usage: npm run new-rule ID [KIND [SUITE]]
KIND: ${Object.keys(ruleKinds).join(', ')} (for their subjects, see "A rule in six steps" in CONTRIBUTING.md)
SUITE: ${ruleSuiteNames.join(', ')} (for bundle rules that many valid bundles break)
`

function main([id, kindName, suite, ...others]: readonly string[]): void {
  if (id === undefined || others.length > 0) {
    process.stderr.write(usageText)
    process.exitCode = 2
    return
  }
  for (const path of writeRule(projectRoot, id, kindName, suite)) process.stdout.write(`${path}\n`)
  process.stdout.write(describeNextSteps(id, kindName))
}

if (process.argv[1] === import.meta.filename) {
  try {
    main(process.argv.slice(2))
  } catch (error) {
    // An invalid command line or an existing file: a stack trace would not help.
    process.stderr.write(`new-rule: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 2
  }
}
