// The repository's configuration, `.github/catalog-bot.yml` at the tip of the base branch: schema, defaults, and parsing. It is
// optional. An unknown key or a wrong type invalidates the whole file, so that a typo blocks merging instead of allowing it
// (docs/dev/threats.md#t49). The text comes only from the tip of the base branch. This file does not read it.
import { isMap, isScalar, type Document } from 'yaml'
import { z } from 'zod'
import {
  disabledByDefault,
  durationOrOffSchema,
  enabledByDefault,
  optionalText,
  requiredText,
  textList,
  section,
} from './setting-schemas.ts'
import { createFinding, ruleSuiteNames } from '@catalog-bot/findings/rule'
import type { Finding, Location } from '@catalog-bot/findings/finding'
import { automationSchema, requiredChecksSchema, mergeMessageSchema } from './merge-settings.ts'
import { bundleImageSchema, bundleReleaseSchema, templatesSchema } from './catalog-sources.ts'
import {
  describeSchemaProblem,
  findAmbiguousLineBreak,
  findInvisibleCharacter,
  findYamlOffset,
  parseYamlDocument,
} from './text-problems.ts'
import { configPath, configUnreadableRule } from './config-path.ts'
import { permissionsSchema } from './permissions.ts'
import { publishSchema } from './publish.ts'

const severitySchema = z.enum(['off', 'info', 'warning', 'error'])

/** Sources of ownership. Each is read at the tip of the base branch if it exists. */
export const ownerSourceNames = [
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
        path: requiredText(
          'Path to a directory that contains one catalog, relative to the root of the repository.',
        ),
        version: z.string().optional().describe('Platform version that the catalog is for, such as "4.20".'),
      }),
    )
    .default([])
    .describe(
      'Catalogs in the repository. If empty, catalog-bot finds the catalogs based on the repository layout.',
    ),
  templates: templatesSchema,
  branches: textList(
    'Globs for branches that contain catalogs, in addition to the default branch. catalog-bot reads this setting from the default branch.',
  ),
  owners: section('Owners and maintainers.', {
    sources: z
      .array(z.enum(ownerSourceNames))
      .default([...ownerSourceNames])
      .describe('Owner files to read. The owners of a package are the union of the owners in these files.'),
    packages: z
      .record(z.string(), z.array(z.string().min(1)))
      .default({})
      .describe(
        'Owners of each package. Each key is the name of a package or its directory. An owner is a login, a login with an account ID (`login:id`), or a team (`organization/team`).',
      ),
    maintainers: textList(
      'Users and teams who maintain the repository, in addition to those in `config.yaml`.',
    ),
    maintainerRoles: z
      .array(z.enum(['admin', 'maintain', 'write']))
      .default(['admin', 'maintain'])
      .describe(
        'Repository roles that make a user a maintainer. If empty, only listed users and teams are maintainers.',
      ),
  }),
  permissions: permissionsSchema,
  automation: automationSchema,
  approvals: section('Validity of approvals.', {
    carryOver: disabledByDefault(
      'Whether an `/approve` comment remains valid after a push that does not change any of the files that the approval covers. Reviews never remain valid after a push. Changing the configuration or the base branch of the pull request still ends the approval.',
    ),
    confirmUnknownPushes: disabledByDefault(
      'Whether the author, an owner, or a maintainer must confirm a commit if catalog-bot does not know who pushed it. This setting also applies to pull requests without a known pusher. A commit that another user pushed always requires confirmation, unless that user could approve the entire change.',
    ),
  }),
  rules: z
    .record(
      z.string(),
      z.union(
        [
          severitySchema,
          z.strictObject({
            severity: severitySchema.optional(),
            ignore: textList('Packages or path globs that the rule ignores.'),
          }),
        ],
        'must be off, info, warning, or error, or a section with severity and ignore',
      ),
    )
    .default({})
    .describe(
      'Severity of each rule, by rule ID, or the packages and paths that the rule ignores. Rules that opm enforces cannot be disabled.',
    ),
  bundles: z
    .strictObject({
      suites: z
        .array(z.enum(ruleSuiteNames))
        .default([])
        .describe(
          'Optional suites of bundle rules to apply, in addition to the default rules. For the names, see `bundle validate --suite`.',
        ),
      image: bundleImageSchema.optional(),
      release: bundleReleaseSchema,
    })
    .refine(({ image, release }) => !release.enabled || image !== undefined, {
      message: '`release` requires `image`, the name of the image that is built from a bundle directory',
      path: ['release'],
    })
    .prefault({})
    .describe('Requirements for bundles, both in repository directories and in images.'),
  images: section('Requirements for referenced images.', {
    registries: textList(
      'Allowed registries, as `host` or `host/path`. If empty, all registries are allowed. Hosts and path segments must match exactly.',
    ),
    platforms: textList(
      'Platforms that every related image must support, such as `linux/amd64`. This setting does not apply to bundle images, which contain only files.',
    ),
    scan: section('Periodic scan of all images that the catalogs reference.', {
      every: durationOrOffSchema
        .default('24h')
        .describe(
          'How often catalog-bot looks up every image that the catalogs reference, in hours or days (`12h`, `7d`). `off` disables the scan.',
        ),
      issue: enabledByDefault(
        'Whether catalog-bot lists missing images in an issue and keeps the issue up to date.',
      ),
      mentionOwners: disabledByDefault(
        'Whether the issue mentions package owners, so that GitHub notifies them. If `false`, the names of owners are plain text.',
      ),
    }),
  }),
  install: section('Simulated installation of the packages that a pull request changes.', {
    required: disabledByDefault(
      'Whether every package that a pull request changes must install successfully before catalog-bot merges the pull request. Otherwise, the check is informational and does not block the merge.',
    ),
    with: z
      .array(z.enum(['olm-v0', 'olm-v1', 'rukpak-plain', 'rukpak-registry', 'rukpak-helm']))
      .default([])
      .describe(
        'Targets that must be able to install packages. If empty, OLM v0 must be able to install registry+v1 bundles, and RukPak must be able to install other bundles.',
      ),
    cluster: z
      .enum(['off', 'asked', 'automatic'])
      .default('off')
      .describe(
        'Whether packages that install successfully in the simulation are also installed on a test cluster, if a bot administrator provides one. `asked`: catalog-bot installs them when a maintainer comments `/test-install`. `automatic`: catalog-bot also installs them when all checks have passed. The Operators under test run on that cluster.',
      ),
  }),
  merge: section('Automatic merging.', {
    enabled: enabledByDefault(
      'Whether catalog-bot merges pull requests automatically when they pass all checks, without a `/merge` comment.',
    ),
    blockingLabels: textList(
      'Labels that prevent catalog-bot from merging a pull request. No label can allow a merge.',
      ['do-not-merge', 'hold'],
    ),
    method: z
      .enum(['auto', 'push', 'merge', 'squash', 'rebase', 'queue'])
      .default('auto')
      .describe(
        'How pull requests are merged. `auto`: the best method that the branch rules allow. `push`: catalog-bot pushes the validated merge commit. `merge`, `squash`, `rebase`: GitHub merges with this method. `queue`: GitHub’s merge queue merges.',
      ),
    message: mergeMessageSchema,
    requires: requiredChecksSchema,
  }),
  comment: z
    .enum(commentPolicies)
    .default('always')
    .describe(
      'When catalog-bot comments on pull requests. `always`: on every pull request, in one comment that it edits. `changes`: only if the author or a maintainer needs to act. `never`: results appear only in check runs. Approvals must be reviews, because `/approve` approves exactly what the comment shows.',
    ),
  suggestions: disabledByDefault(
    'Whether catalog-bot also posts fixes as suggested changes on the changed lines, which the author can commit on GitHub. Regardless of `suggestions`, the comment shows the fixes unless they are long.',
  ),
  rebuild: z
    .strictObject({
      workflow: optionalText('Workflow file to dispatch, such as `build-catalog.yml`.'),
      event: optionalText('Type of the `repository_dispatch` event to send.'),
      webhook: z
        .url({ protocol: /^https?$/ })
        .max(2000)
        .optional()
        .describe(
          'URL of an external builder that receives a signed request. A bot administrator must also allow this URL.',
        ),
    })
    .refine(
      ({ workflow, event, webhook }) =>
        [workflow, event, webhook].filter((one) => one !== undefined).length <= 1,
      { message: 'must contain only one of workflow, event, and webhook' },
    )
    .prefault({})
    .describe(
      'Action that triggers an external builder after a push that changes a catalog. If this section is empty, catalog-bot triggers no builder. A workflow gets the inputs `commit` and `catalogs`, and an event gets the payload `branch`, `commit`, and `catalogs`.',
    ),
  publish: publishSchema,
  opm: z
    .string()
    .regex(/^v1\.\d+$/, 'must be a minor release of opm, such as v1.73')
    .default('v1.73')
    .describe('opm release whose validation rules apply.'),
})

export type Config = z.output<typeof configSchema>

export const defaultConfig: Config = configSchema.parse({})

export type ConfigParseResult =
  | { readonly kind: 'config'; readonly config: Config }
  | { readonly kind: 'unreadable'; readonly findings: readonly Finding[] }

/**
 * Reports unknown rule IDs in `rules`, so that a misspelled setting is not silently ignored. The caller passes the known IDs,
 * because this layer must not depend on the rules.
 */
export function findUnknownRuleIdsInConfig(text: string, known: ReadonlySet<string>): readonly Finding[] {
  const { document, locate } = parseYamlDocument(configPath, text)
  const rules: unknown = document?.getIn(['rules'], true)
  if (!isMap(rules)) return []
  return rules.items.flatMap(({ key }) => {
    const id = isScalar(key) ? String(key.value) : ''
    if (known.has(id)) return []
    const at = locate(isScalar(key) ? (key.range?.[0] ?? 0) : 0)
    return [createFinding(configUnreadableRule, at, { problem: `rules.${id}: unknown rule` })]
  })
}

/**
 * Parses the configuration (one YAML 1.2 document). `undefined` or an empty document results in the default configuration. Unknown
 * keys, wrong types, duplicate keys, aliases, and syntax errors result in findings with locations, and no configuration.
 */
export function parseConfig(text: string | undefined): ConfigParseResult {
  if (text === undefined) return { kind: 'config', config: defaultConfig }
  const divided = findAmbiguousLineBreak(text)
  if (divided !== undefined) {
    const { name, ...position } = divided
    const problem = `the file contains the character ${name}, which some parsers treat as the end of a line or of the text`
    return createUnreadableConfigResult([{ at: { file: configPath, ...position }, problem }])
  }
  const { document, locate, problem } = parseYamlDocument(configPath, text)
  if (problem !== undefined) return createUnreadableConfigResult([problem])
  const value: unknown = document?.toJS() ?? {}
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return createUnreadableConfigResult([
      {
        at: locate(document?.contents?.range?.[0] ?? 0),
        problem: `the file contains ${Array.isArray(value) ? 'a list' : 'a single value'}, but must contain keys such as \`catalogs:\``,
      },
    ])
  return validateConfig(value, document, locate)
}

function validateConfig(
  value: object,
  document: Document.Parsed | undefined,
  locate: (offset: number) => Location,
): ConfigParseResult {
  const result = configSchema.safeParse(value, { error: describeSchemaProblem })
  if (result.success) {
    const odd = findNamesWithInvisibleCharacters(result.data)
    return odd.length === 0
      ? { kind: 'config', config: result.data }
      : createUnreadableConfigResult(odd.map((problem) => ({ at: locate(0), problem })))
  }
  return createUnreadableConfigResult(
    result.error.issues.map((issue) => {
      const path = issue.path.filter((part): part is string | number => typeof part !== 'symbol')
      return {
        at: locate(findYamlOffset(document, path, 'value')),
        problem: path.length === 0 ? issue.message : `${path.join('.')}: ${issue.message}`,
      }
    }),
  )
}

/** Rejects invisible characters, with which a name looks like that of another package or user but does not match it. */
function findNamesWithInvisibleCharacters({ owners }: Config): readonly string[] {
  const names = [
    ...Object.keys(owners.packages),
    ...Object.values(owners.packages).flat(),
    ...owners.maintainers,
  ]
  return names
    .filter((name) => findInvisibleCharacter(name) !== undefined || /\s/.test(name))
    .map((name) => `owners: ${JSON.stringify(name)} contains whitespace or an invisible character`)
}

function createUnreadableConfigResult(
  problems: readonly { at: Location; problem: string }[],
): ConfigParseResult {
  return {
    kind: 'unreadable',
    findings: problems.map(({ at, problem }) => createFinding(configUnreadableRule, at, { problem })),
  }
}
