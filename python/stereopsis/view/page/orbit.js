// The camera that shows the cloud: it turns about the middle of the cloud and moves nearer or farther.
export const orbit = {yaw: 0.22, pitch: 0.12, distance: 1.05};

export function reset_orbit() {
  Object.assign(orbit, {yaw: 0.22, pitch: 0.12, distance: 1.05});
}

export function turn(dx, dy) {
  orbit.yaw += dx * 0.006;
  orbit.pitch = Math.min(1.5, Math.max(-1.5, orbit.pitch + dy * 0.006));
}

export function approach(factor) {
  orbit.distance = Math.min(8, Math.max(0.05, orbit.distance * factor));
}

// Column-major matrix; focal lengths are in units of half a pane.
export function view_matrix(focal_x, focal_y) {
  const [cy, sy, cp, sp] = [Math.cos(orbit.yaw), Math.sin(orbit.yaw), Math.cos(orbit.pitch), Math.sin(orbit.pitch)];
  const near = 0.01, far = 60;
  const a = (far + near) / (near - far), b = (2 * far * near) / (near - far);
  const rotation = [[cy, 0, sy], [sp * sy, cp, -sp * cy], [-cp * sy, sp, cp * cy]];
  const columns = [];
  for (let c = 0; c < 3; ++c) {
    const [x, y, z] = [rotation[0][c], rotation[1][c], rotation[2][c]];
    columns.push(focal_x * x, focal_y * y, a * z, -z);
  }
  return new Float32Array([...columns, 0, 0, -a * orbit.distance + b, orbit.distance]);
}
