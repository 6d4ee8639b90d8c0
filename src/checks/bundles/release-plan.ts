// The templates and catalogs of a release, from its settings. Only plain names become paths: they are untrusted.
import {
  type BundleReleaseInput,
  type TemplateType,
  addBundleToTemplate,
} from '@catalog-bot/fbc/template/amend-template'
import {
  type CatalogReadResult,
  parseWritableCatalog,
  type WritableCatalog,
} from '@catalog-bot/fbc/write/writable-catalog'
import { renderReleasedCatalog, type ReleasedBundle } from '@catalog-bot/fbc/template/render-released-catalog'
import { compareFindings, type Finding } from '@catalog-bot/findings/finding'
import { createFinding } from '@catalog-bot/findings/rule'
import { type PackageSettingsFile, computePostReleaseCatalogChanges } from './post-release-catalog.ts'
import { ciYamlSchema, releaseConfigSchema, parsePackageSettings } from './package-settings.ts'
import type { CatalogChange } from '../../pull-request/change.ts'
import { areBytesEqual } from '../../pull-request/compare-blobs.ts'
import type { Config } from '../../config/config.ts'
import { applyRuleSettings, unknownOpmReleaseRule } from '../validation/rule-settings.ts'
import { alwaysEnabledRuleIds } from '../validation/validate-fully.ts'
import { findConfiguredOpmRuleSet } from '../validation/validation.ts'
import { validatePostReleaseCatalogs } from './validate-post-release-catalogs.ts'

export interface BaseCatalogFile {
  readonly path: string
  readonly format: 'yaml' | 'json'
  /** Absent if the catalog does not have the package yet. */
  readonly bytes?: Uint8Array
}

export interface BasePackageFiles {
  /** Below `operators/`. */
  readonly directory: string
  /** Existing templates by file name. */
  readonly templates: ReadonlyMap<string, Uint8Array>
  /** Existing catalogs by name. */
  readonly catalogs: ReadonlyMap<string, BaseCatalogFile>
}

interface BundleReleaseFiles {
  /** Changed files, sorted by path. Empty if the catalogs already have the bundle. */
  readonly files: readonly { readonly path: string; readonly bytes: Uint8Array }[]
  readonly changes: readonly CatalogChange[]
}

interface BundleReleaseFilesAccumulator {
  readonly files: Map<string, Uint8Array>
  readonly changes: CatalogChange[]
}

export interface PlannedTemplateUpdate {
  /** File in `catalog-templates/`. */
  readonly template: string
  readonly type: TemplateType
  readonly catalogs: readonly string[]
  readonly release: Pick<BundleReleaseInput, 'channels' | 'replaces' | 'skips' | 'skipRange'>
}

export interface BundleReleasePlan {
  /** At least one. */
  readonly templates: readonly PlannedTemplateUpdate[]
  /** Whether catalog-bot can merge the release's pull request automatically. */
  readonly isMergedByItself: boolean
}

/** `nothing`: no release was requested. Errors are readable sentences without a period. */
export type BundleReleasePlanResult =
  CatalogReadResult<BundleReleasePlan> | { readonly ok: 'nothing'; readonly why: string }

/** Limits rendering work. Real releases have far fewer. */
const maxTemplatesPerRelease = 20
const maxCatalogsPerRelease = 50
const maxChannelsPerRelease = 100
/** Limit for bundle and channel names. The longest public name has a third of this length. */
const maxBundleOrChannelNameLength = 253

export function planBundleRelease(
  ciYaml: PackageSettingsFile | undefined,
  config: PackageSettingsFile,
): BundleReleasePlanResult {
  const settings = ciYaml && parsePackageSettings(ciYaml, ciYamlSchema).value
  if (settings?.fbc?.enabled !== true)
    return { ok: 'nothing', why: 'ci.yaml does not set `fbc.enabled: true`' }
  const { value } = parsePackageSettings(config, releaseConfigSchema)
  if (!value) return createReleaseErrorResult('release-config.yaml is malformed')
  if (value.catalog_templates.length > maxTemplatesPerRelease)
    return createReleaseErrorResult(`release-config.yaml lists more than ${maxTemplatesPerRelease} templates`)
  const templates: PlannedTemplateUpdate[] = []
  for (const { template_name: template, channels, replaces, skips, skipRange } of value.catalog_templates) {
    if (!isSafePathSegment(template) || !/\.(?:ya?ml|json)$/.test(template))
      return createReleaseErrorResult('release-config.yaml lists a template with an invalid file name')
    const mapped = settings.fbc.catalog_mapping.filter(({ template_name: name }) => name === template)
    const [mapping] = mapped
    if (!mapping || mapped.length > 1)
      return createReleaseErrorResult(
        `ci.yaml maps the template ${template} ${mapping ? 'twice' : 'to no catalogs'}`,
      )
    if (templates.some((one) => one.template === template))
      return createReleaseErrorResult(`release-config.yaml lists the template ${template} twice`)
    if (
      !mapping.catalog_names.every(isSafePathSegment) ||
      mapping.catalog_names.length > maxCatalogsPerRelease
    )
      return createReleaseErrorResult(
        `ci.yaml maps the template ${template} to catalogs with invalid names, or to too many catalogs`,
      )
    const names = [...channels, ...(replaces === undefined ? [] : [replaces]), ...(skips ?? [])]
    if (channels.length > maxChannelsPerRelease || !names.every(isPrintableAsciiName))
      return createReleaseErrorResult(
        'release-config.yaml lists channels or bundles with invalid names, or too many channels',
      )
    if (skipRange !== undefined && !/^[ -~]{1,500}$/.test(skipRange))
      return createReleaseErrorResult(
        'release-config.yaml has a skipRange with invalid characters or an invalid length',
      )
    templates.push({
      template,
      type: mapping.type,
      catalogs: [...new Set(mapping.catalog_names)],
      release: { channels, replaces, skips, skipRange },
    })
  }
  return { ok: true, value: { templates, isMergedByItself: value.merge !== false } }
}

/** A path segment that is not hidden and does not leave its directory. */
export function isSafePathSegment(name: string): boolean {
  return /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?$/.test(name) && !name.includes('..')
}

/** Text without whitespace or invisible characters, which is safe to write into a template. */
export function isPrintableAsciiName(name: string): boolean {
  return name.length <= maxBundleOrChannelNameLength && /^[!-~]+$/.test(name)
}

function createReleaseErrorResult(error: string): { readonly ok: false; readonly error: string } {
  return { ok: false, error }
}

/**
 * The files that a release changes. Security: changes only templates that the release references and their catalogs,
 * regardless of the settings and the bundle. Errors are clauses for readers, without a period.
 */
export function computeBundleReleaseFiles(
  base: BasePackageFiles,
  bundle: ReleasedBundle,
  templates: readonly PlannedTemplateUpdate[],
): CatalogReadResult<BundleReleaseFiles> {
  if (!isSafePathSegment(base.directory))
    return createReleaseErrorResult('the package directory has an invalid name')
  const files = new Map<string, Uint8Array>()
  const changes: CatalogChange[] = []
  for (const one of templates) {
    const problem = applyBundleReleaseToTemplate(one, base, bundle, { files, changes })
    if (problem !== undefined) return createReleaseErrorResult(problem)
  }
  return {
    ok: true,
    value: {
      files: [...files]
        .map(([path, bytes]) => ({ path, bytes }))
        .toSorted((a, b) => (a.path < b.path ? -1 : 1)),
      changes,
    },
  }
}

/** Returns a readable error if the release is impossible. */
function applyBundleReleaseToTemplate(
  { template: name, type, catalogs: names, release }: PlannedTemplateUpdate,
  { directory, templates, catalogs }: BasePackageFiles,
  bundle: ReleasedBundle,
  { files, changes }: BundleReleaseFilesAccumulator,
): string | undefined {
  const known: { catalog: string; place: BaseCatalogFile }[] = []
  for (const catalog of names) {
    const baseCatalog = catalogs.get(catalog)
    if (!baseCatalog) return `the catalog ${catalog} does not exist, and a maintainer must create it`
    known.push({ catalog, place: baseCatalog })
  }
  const before = templates.get(name)
  // If a catalog contains the bundle, so does the template, perhaps under another reference.
  const present = collectBundleNames(known.flatMap(({ place }) => place.bytes ?? []))
  const { name: bundleName = '', package: packageName = directory } = bundle.withMetadata
  const amended = present.has(bundleName)
    ? undefined
    : addBundleToTemplate(before, type, {
        ...release,
        name: bundleName,
        package: packageName,
        image: bundle.image,
      })
  if (amended?.ok === false) return `the template ${name} cannot be changed: ${amended.error}`
  const template = amended?.value ?? before
  if (!template) return undefined
  if (template !== before) files.set(`operators/${directory}/catalog-templates/${name}`, template)
  for (const { catalog, place } of known) {
    const others = known.flatMap((one) =>
      one.catalog !== catalog && one.place.bytes ? [one.place.bytes] : [],
    )
    const released = renderReleasedCatalog(
      template,
      {
        catalog,
        format: place.format,
        others,
        ...(place.bytes && { bytes: place.bytes }),
        ...(before && { templateBefore: before }),
      },
      [bundle],
    )
    if (!released.ok) return `the catalog ${catalog} cannot be rendered: ${released.error}`
    if (place.bytes && areBytesEqual(place.bytes, released.value)) continue
    files.set(place.path, released.value)
    const now = tryParseCatalog(released.value)
    if (now)
      changes.push(
        ...computePostReleaseCatalogChanges([catalog], place.bytes && tryParseCatalog(place.bytes), now),
      )
  }
  return undefined
}

export function collectBundleNames(files: readonly Uint8Array[]): ReadonlySet<string> {
  return new Set(
    files.flatMap((bytes) => tryParseCatalog(bytes)?.bundles.flatMap(({ name }) => name ?? []) ?? []),
  )
}

function tryParseCatalog(bytes: Uint8Array): WritableCatalog | undefined {
  const read = parseWritableCatalog([bytes])
  return read.ok ? read.value : undefined
}

/**
 * Validates the catalogs that a release would produce, like any pull request. Ignores existing problems. Errors only,
 * because catalog-bot would reject its own pull request.
 */
export function findBundleReleaseProblems(
  changes: readonly CatalogChange[],
  { directory, file }: { readonly directory: string; readonly file: string },
  config: Pick<Config, 'rules' | 'opm'>,
): readonly Finding[] {
  const ruleSet = findConfiguredOpmRuleSet(config)
  if (!ruleSet) return [createFinding(unknownOpmReleaseRule, undefined, { opm: config.opm })]
  const found = changes.flatMap((change) =>
    validatePostReleaseCatalogs(
      [
        {
          directory,
          kind: 'template',
          catalogs: [change.version ?? change.root],
          changes: [change],
          at: { whole: { file, line: 1, column: 1 } },
          images: [],
        },
      ],
      ruleSet,
      config.rules,
    ),
  )
  return applyRuleSettings(found, config.rules, alwaysEnabledRuleIds)
    .filter(({ severity }) => severity === 'error')
    .sort(compareFindings)
}
