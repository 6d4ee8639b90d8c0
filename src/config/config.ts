// The repository's configuration, `.github/catalog-bot.yml` at the base tip: its schema, its defaults, its parsing.
// A catalog repository works with none at all. Whatever is unknown or of the wrong type is refused as a whole:
// a typo must close the gate, not open it (T49). Nothing here reads a file; the text comes from the base tip only.
import { automationSchema } from './automation.ts'
import { bundleImageSchema, releaseSchema } from './bundle-release.ts'
import { findRepeatedKey } from './repeated-key.ts'
import { isMap, isScalar, LineCounter, parseDocument } from 'yaml'
import { z } from 'zod'
import { createFinding } from '../findings/rule.ts'
import type { Finding, Location } from '../findings/finding.ts'
import { configPath } from './config-path.ts'
import { configUnreadable } from './config-unreadable.ts'
import { findAmbiguousBreak, findInvisible } from './ambiguous-characters.ts'
import { mergeMessageSchema } from './merge-message.ts'
import { permissionsSchema } from './permissions.ts'
import { publishSchema } from './publish.ts'
import { suiteNames } from '../findings/suites.ts'
import { requiredChecksSchema } from './required-checks.ts'
import { templatesSchema } from './templates.ts'

const severitySchema = z.enum(['off', 'info', 'warning', 'error'])

/** Sources of ownership, each read at the base tip where it exists. */
export const ownerSources = [
  'ci.yaml',
  'codeowners',
  'owners',
  'catalog-owners',
  'config.yaml',
  'packages',
] as const

const commentPolicies = ['always', 'changes', 'never'] as const

export type CommentPolicy = (typeof commentPolicies)[number]

export const configSchema = z.strictObject({
  catalogs: z
    .array(
      z.strictObject({
        path: z
          .string()
          .min(1)
          .describe('Directory that holds one catalog, from the root of the repository.'),
        version: z.string().optional().describe('Platform version that the catalog serves, such as "4.20".'),
      }),
    )
    .default([])
    .describe('Where the catalogs are. Empty: found by the layout.'),
  templates: templatesSchema,
  branches: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'Globs of branches besides the default branch that hold catalogs. Read from the default branch.',
    ),
  owners: z
    .strictObject({
      sources: z
        .array(z.enum(ownerSources))
        .default([...ownerSources])
        .describe('Which owner files count; a package is owned by the union of what they say.'),
      packages: z
        .record(z.string(), z.array(z.string().min(1)))
        .default({})
        .describe(
          'Owners by package name: logins, logins with their account id as login:id, or teams as organization/team.',
        ),
      maintainers: z
        .array(z.string().min(1))
        .default([])
        .describe('People and teams who maintain the repository, besides those in config.yaml.'),
      maintainerRoles: z
        .array(z.enum(['admin', 'maintain', 'write']))
        .default(['admin', 'maintain'])
        .describe('Roles on the repository whose holders count as maintainers; empty: only those listed.'),
    })
    .prefault({})
    .describe('Who owns what.'),
  permissions: permissionsSchema,
  automation: automationSchema,
  approvals: z
    .strictObject({
      carryOver: z
        .boolean()
        .default(false)
        .describe(
          'Whether an approval survives a push that leaves every file it covered byte for byte the same. Retargets and configuration changes void it all the same.',
        ),
      confirmUnknownPushes: z
        .boolean()
        .default(false)
        .describe(
          'Whether a commit whose pusher is unknown waits until the author, an owner or a maintainer confirms it. This includes pull requests in which no pusher is known. A commit that somebody else pushed always waits.',
        ),
    })
    .prefault({})
    .describe('When an approval counts.'),
  rules: z
    .record(
      z.string(),
      z.union([
        severitySchema,
        z.strictObject({
          severity: severitySchema.optional(),
          ignore: z
            .array(z.string().min(1))
            .default([])
            .describe('Packages or path globs for which the rule is ignored.'),
        }),
      ]),
    )
    .default({})
    .describe(
      'Severity of a rule by its id, or where to ignore it. Rules that opm itself enforces cannot be switched off.',
    ),
  bundles: z
    .strictObject({
      suites: z
        .array(z.enum(suiteNames))
        .default([])
        .describe(
          'Optional rules for bundles that count besides those that always do, as `bundle validate --suite` selects them.',
        ),
      image: bundleImageSchema.optional(),
      release: releaseSchema,
    })
    .refine(({ image, release }) => !release.enabled || image !== undefined, {
      message: 'release needs `image`: where the image of a bundle directory will be',
      path: ['release'],
    })
    .prefault({})
    .describe('What bundles must be, those in directories of the repository and those in images.'),
  images: z
    .strictObject({
      registries: z
        .array(z.string().min(1))
        .default([])
        .describe(
          'Allowed registries, as host or host/path; empty: any. Compared by exact host and whole path segments.',
        ),
      platforms: z
        .array(z.string().min(1))
        .default([])
        .describe(
          'Platforms every related image must offer, such as linux/amd64. Bundle images contain only files and are not checked.',
        ),
      scan: z
        .strictObject({
          every: z
            .string()
            .regex(/^(?:off|[1-9][0-9]{0,3}[hd])$/, 'must be off, or hours or days such as 12h or 7d')
            .default('24h')
            .describe(
              'How often the bot looks up every image that the catalogs name, in hours or days (`12h`, `7d`); `off`: never.',
            ),
          issue: z
            .boolean()
            .default(true)
            .describe('Whether the bot lists missing images in an issue, which it updates.'),
          mentionOwners: z
            .boolean()
            .default(false)
            .describe(
              'Whether the issue mentions the owners of packages, so that GitHub notifies them. Otherwise their names are plain text.',
            ),
        })
        .prefault({})
        .describe('The regular scan of all images that the catalogs name.'),
    })
    .prefault({})
    .describe('What referenced images must be.'),
  install: z
    .strictObject({
      required: z
        .boolean()
        .default(false)
        .describe(
          'Whether a pull request is merged only when every package that it changes installs. Otherwise the check is shown, and blocks nothing.',
        ),
      with: z
        .array(z.enum(['olm-v0', 'olm-v1', 'rukpak-plain', 'rukpak-registry', 'rukpak-helm']))
        .default([])
        .describe(
          'What packages must install with. Empty: OLM v0 for registry+v1 bundles, RukPak for other formats.',
        ),
      cluster: z
        .enum(['off', 'asked', 'automatic'])
        .default('off')
        .describe(
          'Whether what installs in the simulation is tried on a cluster, too, where the operator of the App gives one: `asked`, when a maintainer comments /test-install; `automatic`, also when every check has passed. An Operator that is tried runs on that cluster.',
        ),
    })
    .prefault({})
    .describe('The simulated install of the packages that a pull request changes.'),
  merge: z
    .strictObject({
      enabled: z.boolean().default(true).describe('Whether the bot merges pull requests that pass.'),
      blockingLabels: z
        .array(z.string().min(1))
        .default(['do-not-merge', 'hold'])
        .describe('Labels that stop the bot from merging. No label allows anything.'),
      method: z
        .enum(['auto', 'push', 'merge', 'squash', 'rebase', 'queue'])
        .default('auto')
        .describe(
          'How pull requests are merged. `auto`: what the rules of the branch allow, best first (see landing.md). `push`: the validated merge itself is pushed. `merge`, `squash`, `rebase`: GitHub merges. `queue`: GitHub’s merge queue.',
        ),
      message: mergeMessageSchema,
      requires: requiredChecksSchema,
    })
    .prefault({})
    .describe('Automatic merging.'),
  comment: z
    .enum(commentPolicies)
    .default('always')
    .describe(
      'When the bot comments on a pull request. `always`: on each, edited in place. `changes`: once somebody has to act; what passes by itself gets no comment. `never`: check runs say it all, and approvals are given in reviews, for `/approve` means what the comment shows.',
    ),
  suggestions: z
    .boolean()
    .default(false)
    .describe(
      'Whether the bot also puts fixes on the changed lines, as suggestions that the author can commit on GitHub. The comment shows each fix in any case.',
    ),
  rebuild: z
    .strictObject({
      workflow: z
        .string()
        .min(1)
        .optional()
        .describe('Workflow file to dispatch, such as build-catalog.yml.'),
      event: z.string().min(1).optional().describe('Type of the repository_dispatch event to send.'),
      webhook: z
        .url({ protocol: /^https?$/ })
        .max(2000)
        .optional()
        .describe(
          'Address of another builder that gets a signed request. The operator of the App must allow it, too.',
        ),
    })
    .refine(
      ({ workflow, event, webhook }) =>
        [workflow, event, webhook].filter((one) => one !== undefined).length <= 1,
      { message: 'give a workflow, an event or a webhook, not several' },
    )
    .prefault({})
    .describe('What a push that changes a catalog triggers at another builder. Without any: nothing.'),
  publish: publishSchema,
  opm: z
    .string()
    .regex(/^v1\.\d+$/, 'must look like v1.73')
    .default('v1.73')
    .describe('The opm release whose verdict is authoritative.'),
})

export type Config = z.output<typeof configSchema>

export const defaultConfig: Config = configSchema.parse({})

export type ParsedConfig =
  | { readonly kind: 'config'; readonly config: Config }
  | { readonly kind: 'unreadable'; readonly findings: readonly Finding[] }

/**
 * Findings for rule ids under `rules` that no rule has: a misspelt switch must not be believed to be on. Which rules
 * there are is not this floor's to know.
 */
export function findUnknownRules(text: string, known: ReadonlySet<string>): readonly Finding[] {
  const lines = new LineCounter()
  const rules: unknown = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: false,
    prettyErrors: false,
  }).getIn(['rules'], true)
  if (!isMap(rules)) return []
  return rules.items.flatMap(({ key }) => {
    const id = isScalar(key) ? String(key.value) : ''
    if (known.has(id)) return []
    const { line, col } = lines.linePos(isScalar(key) ? (key.range?.[0] ?? 0) : 0)
    const at = { file: configPath, line: Math.max(line, 1), column: Math.max(col, 1) }
    return [createFinding(configUnreadable, at, { problem: `rules.${id}: there is no such rule` })]
  })
}

/**
 * Reads the configuration's text (UTF-8 YAML 1.2, one document). `undefined` or an empty document is the default.
 * Unknown keys, wrong types, duplicate keys, aliases and syntax errors give findings with their place, and no config.
 */
export function parseConfig(text: string | undefined): ParsedConfig {
  if (text === undefined) return { kind: 'config', config: defaultConfig }
  const lines = new LineCounter()
  const divided = findAmbiguousBreak(text)
  if (divided !== undefined) {
    const before = text.slice(0, divided.offset).split('\n')
    const at = { file: configPath, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
    return toUnreadableConfig([
      { at, problem: `it holds ${divided.name}, where readers may end a line or the text` },
    ])
  }
  const document = parseDocument(text, {
    lineCounter: lines,
    // In linear time below: repeatedKey says why.
    uniqueKeys: false,
    prettyErrors: false,
    strict: true,
  })
  const locationAt = (offset: number): Location => {
    const { line, col } = lines.linePos(offset)
    return { file: configPath, line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  if (document.errors.length > 0)
    return toUnreadableConfig(
      document.errors.map((error) => ({
        at: locationAt(error.pos[0]),
        problem: error.message.split('\n')[0] ?? error.message,
      })),
    )
  const repeated = findRepeatedKey(document) as { range?: [number, number, number] } | undefined
  if (repeated !== undefined)
    return toUnreadableConfig([
      { at: locationAt(repeated.range?.[0] ?? 0), problem: 'Map keys must be unique' },
    ])
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: 0 }) ?? {}
  } catch (error) {
    return toUnreadableConfig([
      { at: locationAt(0), problem: error instanceof Error ? error.message : String(error) },
    ])
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return toUnreadableConfig([
      {
        at: locationAt(document.contents?.range?.[0] ?? 0),
        problem: `it holds ${Array.isArray(value) ? 'a list' : 'one value'}, and must hold keys, such as \`catalogs:\``,
      },
    ])
  const result = configSchema.safeParse(value)
  if (result.success) {
    const odd = findUntypableNames(result.data)
    return odd.length === 0
      ? { kind: 'config', config: result.data }
      : toUnreadableConfig(odd.map((problem) => ({ at: locationAt(0), problem })))
  }
  return toUnreadableConfig(
    result.error.issues.map((issue) => {
      const path = issue.path.filter((part): part is string | number => typeof part !== 'symbol')
      return {
        at: locationAt(findOffset(document, path)),
        problem: `${path.join('.') || 'the document'}: ${issue.message}`,
      }
    }),
  )
}

/** Where a value begins; of one that is missing, that which should hold it. */
function findOffset(document: ReturnType<typeof parseDocument>, path: readonly (string | number)[]): number {
  for (let depth = path.length; depth > 0; depth--) {
    const node = document.getIn(path.slice(0, depth), true) as
      { range?: [number, number, number] } | undefined
    if (node?.range !== undefined) return node.range[0]
  }
  return 0
}

/** Packages and people whose names nobody could type: a list under such a name is nobody's, and looks like somebody's. */
function findUntypableNames({ owners }: Config): readonly string[] {
  const names = [
    ...Object.keys(owners.packages),
    ...Object.values(owners.packages).flat(),
    ...owners.maintainers,
  ]
  return names
    .filter((name) => findInvisible(name) !== undefined || /\s/.test(name))
    .map((name) => `owners: ${JSON.stringify(name)} holds white space or something that nobody sees`)
}

function toUnreadableConfig(problems: readonly { at: Location; problem: string }[]): ParsedConfig {
  return {
    kind: 'unreadable',
    findings: problems.map(({ at, problem }) => createFinding(configUnreadable, at, { problem })),
  }
}
