// Bundles that lie in the repository as files, judged with the settings of their packages: what is inside as `bundle
// validate` does, and their place among the others. Part of the validation check.
import { z } from 'zod'
import type { Finding } from '../../findings/finding.ts'
import { configuredFindings } from '../configured-findings.ts'
import type { CheckInput } from '../check.ts'
import { ciYamlOf, judgeSettings } from './judge-settings.ts'
import { judgePlaces } from './judge-bundle.ts'
import type { PackageSources } from './package-sources.ts'
import { readSettings } from './settings-file.ts'

/** The findings in the bundle directories and settings that a change touches, as the configuration wants them. */
export function judgeBundleDirectories({
  bundleDirectories = [],
  config,
}: Pick<CheckInput, 'bundleDirectories' | 'config'>): readonly Finding[] {
  const found = bundleDirectories.flatMap((sources) =>
    judgePackage(sources).map((one): Finding => ({
      ...one,
      data: { package: sources.directory, ...one.data },
    })),
  )
  return configuredFindings(found, config)
}

function judgePackage(sources: PackageSources): Finding[] {
  const settings = ciYamlOf(sources)
  return [
    ...sources.touched.flatMap(({ root, findings }) =>
      findings.map((one): Finding => ({
        ...one,
        // Nothing is released of a directory that holds no bundle.
        ...(one.data?.['isEmpty'] === true && { severity: 'warning' as const }),
        at: one.at ? { ...one.at, file: `${root}/${one.at.file}` } : { file: root, line: 1, column: 1 },
      })),
    ),
    ...judgePlaces(sources, settings),
    ...judgeSettings(sources, settings),
  ]
}

/**
 * Why the settings of touched packages keep the bot from merging, for people. Both sides count: what the base says holds,
 * and what a change says of itself may hold it back, never let it through.
 */
export function mergedByHand({
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
      return text !== undefined && isOff(readSettings({ path, text }, mergeSchema).value?.merge)
    })
    return keepsBack
      ? [`${path} says \`merge: false\`: it is merged when an owner or a maintainer comments /merge`]
      : []
  })
}

/** The one setting, whatever else the file says. */
const mergeSchema = z.looseObject({ merge: z.unknown() })

/** Other readers take other words for a no: whatever is not plainly a yes is one. */
function isOff(merge: unknown): boolean {
  return merge !== undefined && merge !== null && !/^"?(?:true|yes|on)"?$/i.test(JSON.stringify(merge))
}
