// The part of the validation check that covers bundle directories and package settings.
import { z } from 'zod'
import type { Finding } from '@catalog-bot/findings/finding'
import { applyConfiguredSeverities } from '../apply-configured-severities.ts'
import type { CheckInput } from '../check.ts'
import { parseCiYaml, validatePackageSettings } from './validate-package-settings.ts'
import { validateTouchedBundles } from './validate-touched-bundles.ts'
import type { PackageSources } from './package-sources.ts'
import { parsePackageSettings } from './settings-file.ts'

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
 * Why package settings prevent an automatic merge. Checks both sides, so that a change can add a restriction but not
 * remove one from the base.
 */
export function listAutoMergeBlockReasons({
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
      return (
        text !== undefined &&
        isAutoMergeDisabled(parsePackageSettings({ path, text }, autoMergeSettingSchema).value?.merge)
      )
    })
    return keepsBack ? [`${path} sets \`merge: false\`, so an owner or a maintainer must comment /merge`] : []
  })
}

/** Ignores all other settings. */
const autoMergeSettingSchema = z.looseObject({ merge: z.unknown() })

/** YAML parsers disagree about which words mean false, so any value except a plain true disables merging. */
function isAutoMergeDisabled(merge: unknown): boolean {
  return merge !== undefined && merge !== null && !/^"?(?:true|yes|on)"?$/i.test(JSON.stringify(merge))
}
