// A scheduler and a kubelet. It runs the commands of the Job and the pod with which OLM v0 and RukPak unpack a bundle, with
// the files of the bundle from a folder, and serves the log of that pod. It reports missing images like a kubelet. It reports
// all other pods as running without starting them.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createKubernetesNode, type ControlPlane } from './start-control-plane.ts'

const execFileAsync = promisify(execFile)

interface KubernetesPod {
  readonly metadata: {
    readonly uid: string
    readonly name: string
    readonly namespace: string
    readonly labels?: Readonly<Record<string, string>>
    readonly deletionTimestamp?: string
  }
  readonly spec: {
    readonly nodeName?: string
    readonly containers: readonly {
      readonly name: string
      readonly image: string
      readonly command?: readonly string[]
      readonly env?: readonly { readonly name: string; readonly value?: string }[]
    }[]
  }
}

export interface FakeKubelet {
  /** The images that were unpacked so far. */
  readonly unpacked: readonly string[]
  close(): Promise<void>
}

export interface FakeKubeletOptions {
  readonly plane: ControlPlane
  readonly opm: string
  /** Folders of bundles, by their image. */
  readonly bundles: ReadonlyMap<string, string>
}

const bundleUnpackPodLabel = 'operatorframework.io/bundle-unpack-ref'
const rukPakPodLabel = 'core.rukpak.io/owner-kind'

export async function startFakeKubelet({ plane, opm, bundles }: FakeKubeletOptions): Promise<FakeKubelet> {
  const seenPods = new Set<string>()
  const unpacked: string[] = []
  const logs = new Map<string, string>()
  const certificate = (name: string) => readFileSync(join(plane.folder, name))
  // The API server asks the node for the log of a pod: /containerLogs/NAMESPACE/POD/CONTAINER.
  const server = createServer(
    { key: certificate('server.key'), cert: certificate('server.crt') },
    (request, response) => {
      const path = new URL(request.url ?? '', 'https://localhost').pathname
      const text = logs.get(path.replace(/^\/containerLogs/, ''))
      response.writeHead(text === undefined ? 404 : 200).end(text ?? '')
    },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  await plane.ask(
    'POST',
    '/api/v1/nodes',
    createKubernetesNode(
      'stand-in',
      {},
      {
        addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
        daemonEndpoints: { kubeletEndpoint: { Port: (server.address() as AddressInfo).port } },
      },
    ),
  )
  let isOpen = true
  const working = (async () => {
    while (isOpen) {
      const { body } = await plane.ask('GET', '/api/v1/pods')
      for (const pod of (body['items'] ?? []) as KubernetesPod[]) {
        // A deleted pod disappears after its kubelet reports that no container runs.
        if (pod.metadata.deletionTimestamp !== undefined && pod.spec.nodeName !== undefined)
          await plane.ask(
            'DELETE',
            `/api/v1/namespaces/${pod.metadata.namespace}/pods/${pod.metadata.name}`,
            { gracePeriodSeconds: 0 },
          )
        if (seenPods.has(pod.metadata.uid) || pod.spec.nodeName !== undefined) continue
        seenPods.add(pod.metadata.uid)
        void schedulePod(pod).catch((error: unknown) => console.error(`stand-in: ${String(error)}`))
      }
      await sleep(300)
    }
  })()

  async function schedulePod(pod: KubernetesPod): Promise<void> {
    const { namespace, name, labels = {} } = pod.metadata
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`
    const isForRukPak = labels[rukPakPodLabel] === 'Bundle'
    const isUnpacking = labels[bundleUnpackPodLabel] !== undefined || isForRukPak
    const missing = pod.spec.containers.find(({ image }) => image.includes('missing'))
    await plane.ask('POST', `${path}/binding`, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name },
      target: { apiVersion: 'v1', kind: 'Node', name: 'stand-in' },
    })
    if (missing)
      return patchStatus(path, {
        phase: 'Pending',
        containerStatuses: [createImagePullBackOffStatus(missing)],
      })
    if (!isUnpacking) return patchStatus(path, createRunningPodStatus(pod))
    const extract = pod.spec.containers.find(({ name: its }) => its === (isForRukPak ? 'bundle' : 'extract'))
    const image =
      (isForRukPak ? extract?.image : extract?.env?.find((one) => one.name === 'CONTAINER_IMAGE')?.value) ??
      ''
    const folder = bundles.get(image)
    const container = extract?.name ?? ''
    if (folder === undefined)
      return patchStatus(path, {
        phase: 'Pending',
        containerStatuses: [createImagePullBackOffStatus({ name: container, image })],
      })
    if (isForRukPak) {
      const unpack = join(plane.built, 'bin', 'rukpak-v1alpha1', 'unpack')
      const { stdout } = await execFileAsync(unpack, ['--bundle-dir', folder], { maxBuffer: 64 << 20 })
      logs.set(`/${namespace}/${name}/${container}`, stdout)
      return reportTerminated(path, container, image)
    }
    // The command of the pod, except for the mount path of the bundle and the kubeconfig.
    const [, ...command] = (extract?.command ?? []).map((word: string) =>
      word === '/bundle/' ? `${folder}/` : word,
    )
    await execFileAsync(opm, [...command, '--kubeconfig', plane.kubeconfig], {
      env: { ...process.env, CONTAINER_IMAGE: image },
    })
    await reportTerminated(path, container, image)
  }

  async function reportTerminated(path: string, container: string, image: string): Promise<void> {
    unpacked.push(image)
    const now = new Date().toISOString().replace(/\.\d+Z/, 'Z')
    await patchStatus(path, {
      phase: 'Succeeded',
      containerStatuses: [
        {
          name: container,
          image,
          imageID: image,
          ready: false,
          restartCount: 0,
          state: { terminated: { exitCode: 0, reason: 'Completed', startedAt: now, finishedAt: now } },
        },
      ],
    })
  }

  async function patchStatus(path: string, status: object): Promise<void> {
    await plane.ask('PATCH', `${path}/status`, { status }, 'application/merge-patch+json')
  }

  return {
    unpacked,
    close: async () => {
      isOpen = false
      await working
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The status of a pod with all containers started and ready. */
function createRunningPodStatus({ spec }: KubernetesPod): object {
  const now = new Date().toISOString().replace(/\.\d+Z/, 'Z')
  const isTrue = (type: string) => ({ type, status: 'True', lastTransitionTime: now })
  return {
    phase: 'Running',
    startTime: now,
    podIP: '192.0.2.20',
    podIPs: [{ ip: '192.0.2.20' }],
    conditions: ['Initialized', 'ContainersReady', 'Ready', 'PodScheduled'].map(isTrue),
    containerStatuses: spec.containers.map(({ name, image }) => ({
      name,
      image,
      imageID: image,
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: now } },
    })),
  }
}

function createImagePullBackOffStatus({
  name,
  image,
}: {
  readonly name: string
  readonly image: string
}): object {
  return {
    name,
    image,
    imageID: '',
    ready: false,
    restartCount: 0,
    state: {
      waiting: {
        reason: 'ErrImagePull',
        message: `failed to pull and unpack image "${image}": ${image}: not found`,
      },
    },
  }
}
