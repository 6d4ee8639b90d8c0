// The templates and catalogs of a release, from `ci.yaml` and `release-config.yaml`. Names are untrusted, so only
// plain names become paths.
import type { BundleReleaseInput, TemplateType } from '@catalog-bot/fbc/template/amend-template'
import type { CatalogReadResult } from '@catalog-bot/fbc/write/writable-catalog'
import type { PackageSettingsFile } from './package-sources.ts'
import { ciYamlSchema, releaseConfigSchema } from './package-settings.ts'
import { parsePackageSettings } from './settings-file.ts'

export interface PlannedTemplateRelease {
  /** File in `catalog-templates/`. */
  readonly template: string
  readonly type: TemplateType
  readonly catalogs: readonly string[]
  readonly release: Pick<BundleReleaseInput, 'channels' | 'replaces' | 'skips' | 'skipRange'>
}

export interface ReleasePlan {
  /** At least one. */
  readonly templates: readonly PlannedTemplateRelease[]
  /** Whether catalog-bot can merge the release's pull request automatically. */
  readonly isMergedByItself: boolean
}

/** `nothing`: no release was requested. Errors are readable sentences without a period. */
export type ReleasePlanResult =
  CatalogReadResult<ReleasePlan> | { readonly ok: 'nothing'; readonly why: string }

/** Limits rendering work. Real releases have far fewer. */
const maxReleaseTemplates = 20
const maxReleaseCatalogs = 50
const maxReleaseChannels = 100
/** Limit for bundle and channel names. The longest public name has a third of this length. */
const maxBundleOrChannelNameLength = 253

export function planRelease(
  ciYaml: PackageSettingsFile | undefined,
  config: PackageSettingsFile,
): ReleasePlanResult {
  const settings = ciYaml && parsePackageSettings(ciYaml, ciYamlSchema).value
  if (settings?.fbc?.enabled !== true)
    return { ok: 'nothing', why: 'ci.yaml does not set `fbc.enabled: true`' }
  const { value } = parsePackageSettings(config, releaseConfigSchema)
  if (!value) return createReleaseErrorResult('its release-config.yaml is malformed')
  if (value.catalog_templates.length > maxReleaseTemplates)
    return createReleaseErrorResult(
      `its release-config.yaml lists more than ${maxReleaseTemplates} templates`,
    )
  const templates: PlannedTemplateRelease[] = []
  for (const { template_name: template, channels, replaces, skips, skipRange } of value.catalog_templates) {
    if (!isSafePathSegment(template) || !/\.(?:ya?ml|json)$/.test(template))
      return createReleaseErrorResult('its release-config.yaml lists a template with an invalid file name')
    const mapped = settings.fbc.catalog_mapping.filter(({ template_name: name }) => name === template)
    const [mapping] = mapped
    if (!mapping || mapped.length > 1)
      return createReleaseErrorResult(
        `ci.yaml maps the template ${template} ${mapping ? 'twice' : 'to no catalogs'}`,
      )
    if (templates.some((one) => one.template === template))
      return createReleaseErrorResult(`its release-config.yaml lists the template ${template} twice`)
    if (!mapping.catalog_names.every(isSafePathSegment) || mapping.catalog_names.length > maxReleaseCatalogs)
      return createReleaseErrorResult(
        `ci.yaml maps the template ${template} to catalogs with invalid names, or to too many catalogs`,
      )
    const names = [...channels, ...(replaces === undefined ? [] : [replaces]), ...(skips ?? [])]
    if (channels.length > maxReleaseChannels || !names.every(isPrintableName))
      return createReleaseErrorResult(
        'its release-config.yaml lists channels or bundles with invalid names, or too many channels',
      )
    if (skipRange !== undefined && !/^[ -~]{1,500}$/.test(skipRange))
      return createReleaseErrorResult(
        'its release-config.yaml has a skipRange with invalid characters or an invalid length',
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
export function isPrintableName(name: string): boolean {
  return name.length <= maxBundleOrChannelNameLength && /^[!-~]+$/.test(name)
}

function createReleaseErrorResult(error: string): { readonly ok: false; readonly error: string } {
  return { ok: false, error }
}
