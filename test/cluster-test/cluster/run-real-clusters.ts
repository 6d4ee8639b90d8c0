// `npm run test:cluster`: install tests on real control planes, with the controllers of OLM v0, OLM v1, and RukPak:
// install, upgrade, failures, unresolvable packages, and a clean cluster after each. Requires etcd, docker-registry,
// skopeo, and the output of build-control-plane (`CONTROL_PLANE` names its folder). Arguments select stories. Exits
// with 1 if a claim fails, and with 2 if a story that was requested by name or by `--all` cannot run.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { selectClusterStories } from './real/choose-stories.ts'
import { createAssertionRecorder } from './real/assertions.ts'
import { runOlmV0Stories } from './real/olm-v0.ts'
import { runOlmV1Stories } from './real/olm-v1.ts'
import { runNewerOlmV1Stories } from './real/newer-olm-v1.ts'
import { runRukPakStories } from './real/rukpak.ts'
import { runRbacStories } from './real/rbac.ts'
import {
  runStoriesOnControlPlane,
  publishClusterTestImages,
  type ClusterStoryContext,
} from './real/cluster-stories.ts'

const controlPlaneBinariesDirectory = process.env['CONTROL_PLANE']
if (
  controlPlaneBinariesDirectory === undefined ||
  !existsSync(join(controlPlaneBinariesDirectory, 'bin', 'kube-apiserver'))
) {
  console.log(
    'not tried: CONTROL_PLANE names no folder with a control plane. Build one: test/cluster-test/cluster/build-control-plane DIRECTORY',
  )
  process.exit(2)
}

// Runs in separate network and PID namespaces if the system allows it: nothing started here is reachable from outside,
// can reach the network, or outlives this process.
const isolationEnvVariableName = 'CATALOG_BOT_ALONE'
if (process.env[isolationEnvVariableName] === undefined) {
  const apart = ['--map-root-user', '--net', '--pid', '--fork', '--kill-child', '--mount-proc', '--']
  const inside = [...apart, 'sh', '-c', 'ip link set lo up && "$@"', 'sh']
  if (spawnSync('unshare', [...inside, 'true'], { stdio: 'ignore' }).status === 0) {
    const command = [process.execPath, '--no-warnings', import.meta.filename, ...process.argv.slice(2)]
    const env = { ...process.env, [isolationEnvVariableName]: 'yes' }
    const child = spawn('unshare', [...inside, ...command], { stdio: 'inherit', env })
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill('SIGKILL'))
    const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
    process.exit(code ?? 1)
  }
}

/** Each runs on a separate control plane: RukPak versions share CRDs, and leftovers of one must not help another. */
const clusterScenarioRunnersByName: Readonly<Record<string, (scene: ClusterStoryContext) => Promise<void>>> =
  {
    rights: runRbacStories,
    'olm-v0': runOlmV0Stories,
    'olm-v1': runOlmV1Stories,
    'olm-v1-api': runNewerOlmV1Stories,
    'rukpak-v1alpha1': (scene) => runRukPakStories(scene, 'rukpak-v1alpha1'),
    rukpak: (scene) => runRukPakStories(scene, 'rukpak'),
  }
/** What each story requires besides the control plane: parts of build-control-plane, and the files that they create. */
const requirementsByStory: Readonly<
  Record<string, { readonly parts: string; readonly files: readonly string[] }>
> = {
  'olm-v0': { parts: 'olm opm', files: ['bin/catalog', 'bin/olm', 'bin/opm'] },
  'olm-v1': { parts: 'olm-v1', files: ['bin/catalogd', 'bin/operator-controller'] },
  'olm-v1-api': { parts: 'olm-v1-api', files: ['crds/olm-v1-api'] },
  'rukpak-v1alpha1': { parts: 'rukpak-v1alpha1', files: ['bin/rukpak-v1alpha1/webhooks'] },
  rukpak: { parts: 'rukpak', files: ['bin/rukpak/helm'] },
}
const areStoryBinariesBuilt = (name: string) =>
  ['bin/kube-controller-manager', ...(requirementsByStory[name]?.files ?? [])].every((file) =>
    existsSync(join(controlPlaneBinariesDirectory, file)),
  )
const { run, notTried, isIncomplete } = selectClusterStories(
  process.argv.slice(2),
  Object.keys(clusterScenarioRunnersByName),
  areStoryBinariesBuilt,
)

const temporaryDirectory = mkdtempSync(join(tmpdir(), 'control-plane-'))
const printLogLine = (line: string) => console.log(line)
const assertionRecorder = createAssertionRecorder(printLogLine)
const clusterTestImages = await publishClusterTestImages(join(temporaryDirectory, 'world'))
const cleanUpTestResources = async () => {
  await clusterTestImages.registry.close()
  if (process.env['KEEP'] === undefined) rmSync(temporaryDirectory, { recursive: true, force: true })
  else printLogLine(`kept: ${temporaryDirectory}`)
}
try {
  for (const name of run) {
    const story = clusterScenarioRunnersByName[name]
    if (story)
      await runStoriesOnControlPlane(
        { built: controlPlaneBinariesDirectory, folder: join(temporaryDirectory, name), say: printLogLine },
        clusterTestImages,
        assertionRecorder,
        story,
      )
  }
} finally {
  await cleanUpTestResources()
}
printLogLine(`\n${assertionRecorder.table()}\n`)
for (const name of notTried)
  printLogLine(
    `not tried: ${name}. Build what it needs: test/cluster-test/cluster/build-control-plane ${controlPlaneBinariesDirectory} kubernetes ${requirementsByStory[name]?.parts ?? ''}`,
  )
printLogLine(
  'not covered: the controllers of OLM v1 from 1.11 on; olm-v1-api tries their API alone (docs/how-to/cluster-tests.md)',
)
printLogLine(
  assertionRecorder.wrong() === 0
    ? `${run.join(', ')}: all as it should be`
    : `${assertionRecorder.wrong()} wrong`,
)
process.exit(assertionRecorder.wrong() > 0 ? 1 : isIncomplete ? 2 : 0)
