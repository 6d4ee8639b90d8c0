// The part of the validation check that judges bundle directories and package settings.
import { z } from 'zod'
import type { Finding } from '../../findings/finding.ts'
import { applyConfiguredSeverities } from '../apply-configured-severities.ts'
import type { CheckInput } from '../check.ts'
import { parseCiYaml, validatePackageSettings } from './validate-package-settings.ts'
import { validateTouchedBundles } from './validate-touched-bundles.ts'
import type { PackageSources } from './package-sources.ts'
import { readSettings } from './settings-file.ts'

export function validateBundleDirectories({
  bundleDirectories = [],
  config,
}: Pick<CheckInput, 'bundleDirectories' | 'config'>): readonly Finding[] {
  const found = bundleDirectories.flatMap((sources) =>
    validatePackageSources(sources).map((one): Finding => ({
      ...one,
      data: { package: sources.directory, ...one.data },
    })),
  )
  return applyConfiguredSeverities(found, config)
}

function validatePackageSources(sources: PackageSources): Finding[] {
  const settings = parseCiYaml(sources)
  return [
    ...sources.touched.flatMap(({ root, findings }) =>
      findings.map((one): Finding => ({
        ...one,
        // An empty directory releases nothing.
        ...(one.data?.['isEmpty'] === true && { severity: 'warning' as const }),
        at: one.at ? { ...one.at, file: `${root}/${one.at.file}` } : { file: root, line: 1, column: 1 },
      })),
    ),
    ...validateTouchedBundles(sources, settings),
    ...validatePackageSettings(sources, settings),
  ]
}

/**
 * Why package settings keep the bot from merging, for people. Checks both sides, so that a change can add a restriction
 * but not lift one from the base.
 */
export function listManualMergeReasons({
  change,
  ownerFiles,
}: Pick<CheckInput, 'change' | 'ownerFiles'>): readonly string[] {
  const directories = new Set(
    change.paths.flatMap(({ role }) => ('directory' in role && role.directory ? [role.directory] : [])),
  )
  return [...directories].sort().flatMap((directory) => {
    const path = `operators/${directory}/ci.yaml`
    const keepsBack = [ownerFiles.base, ownerFiles.result].some((side) => {
      const text = side.get(path)
      return text !== undefined && isMergeOff(readSettings({ path, text }, mergeSettingSchema).value?.merge)
    })
    return keepsBack
      ? [`${path} says \`merge: false\`: it is merged when an owner or a maintainer comments /merge`]
      : []
  })
}

/** Ignores all other settings. */
const mergeSettingSchema = z.looseObject({ merge: z.unknown() })

/** YAML readers differ on words for false, so anything but a plain true turns merging off. */
function isMergeOff(merge: unknown): boolean {
  return merge !== undefined && merge !== null && !/^"?(?:true|yes|on)"?$/i.test(JSON.stringify(merge))
}
