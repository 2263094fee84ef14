"""A model as MJCF: classes, degrees and all ways to write a rotation, masses from shapes, springs, a loop."""

MJCF = """<mujoco model="all sorts">
  <compiler angle="degree" eulerseq="XYZ" settotalmass="9"/>
  <option gravity="1 0.5 -9.81" timestep="0.001"/>
  <default>
    <joint damping="0.05" armature="0"/>
    <geom density="600"/>
    <default class="thin">
      <geom size="0.02" type="capsule"/>
      <joint stiffness="2" springref="20"/>
      <default class="thinner"><geom density="300"/></default>
    </default>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="base" pos="0 0 1" euler="10 20 30">
      <joint name="yaw" axis="0 0 2" pos="0.05 0 0" ref="15"/>
      <geom type="box" size="0.1 0.05 0.03" pos="0.02 0 0" quat="0.9 0.1 0.2 0.3"/>
      <geom type="ellipsoid" size="0.05 0.04 0.06" mass="0.7" pos="0 0.1 0" axisangle="1 1 0 40"/>
      <body name="arm" pos="0.1 0 0" xyaxes="0 1 0 -1 0.2 0" childclass="thin">
        <joint name="shoulder" axis="0 1 0.3" range="-60 80"/>
        <geom fromto="0 0 0 0.3 0.05 0"/>
        <site name="elbow place" pos="0.3 0.05 0" zaxis="1 0 0"/>
        <body name="fore" pos="0.3 0.05 0" zaxis="0.2 0 1">
          <joint name="elbow" axis="1 0 0"/>
          <joint name="twist" axis="0 1 0"/>
          <geom class="thinner" fromto="0 0 0 0 0 0.2"/>
          <geom type="sphere" size="0.03" pos="0 0 0.2" mass="0.1"/>
          <body name="tip" pos="0 0 0.2">
            <joint name="slide" type="slide" axis="0 0 1" springref="0.05" stiffness="40"/>
            <geom type="cylinder" size="0.02 0.03"/>
          </body>
        </body>
      </body>
      <body name="wheel" pos="-0.1 0 0">
        <joint name="ball" type="ball" pos="0 0 0.02" damping="0"/>
        <inertial pos="0 0.01 0" mass="0.4" diaginertia="0.001 0.002 0.0015" quat="1 0.2 0 0"/>
      </body>
    </body>
    <body name="loose" pos="0.5 0.5 0.2">
      <freejoint/>
      <geom type="box" size="0.1 0.1 0.05"/>
      <body name="link" pos="0.2 0 0"><joint name="pin" axis="0 1 0" damping="0"/>
        <geom type="capsule" class="thin" fromto="0 0 0 0.2 0 0"/></body>
    </body>
    <body name="other" pos="0.9 0.5 0.2">
      <joint name="sx" type="slide" axis="1 0 0"/><joint name="sz" type="slide" axis="0 0 1"/><joint name="turn" axis="0 -1 0"/>
      <geom type="sphere" size="0.06"/>
    </body>
    <body name="raft" pos="1.5 0 0.3" euler="20 0 30">
      <joint name="ax" type="slide" axis="1 0.2 0" stiffness="9" damping="0"/><joint name="ay" type="slide" axis="0 1 0.4"/>
      <geom type="box" size="0.05 0.04 0.06" pos="0.01 0.02 0.03"/>
    </body>
  </worldbody>
  <equality><connect name="tie" body1="link" body2="other" anchor="0.2 0 0"/></equality>
  <actuator><motor name="drive" joint="shoulder" gear="5" ctrlrange="-2 2"/></actuator>
</mujoco>
"""
