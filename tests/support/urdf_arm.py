"""A robot as URDF: fixed joints, stops, friction, an effort."""

ARM = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0.2 0 0" rpy="0.3 -0.2 0.5"/><mass value="1.3"/>
      <inertia ixx="0.02" ixy="0.001" ixz="-0.002" iyy="0.03" iyz="0.0005" izz="0.025"/></inertial>
    <visual><geometry><box size="1 1 1"/></geometry></visual>
  </link>
  <link name="flange"><inertial><origin xyz="0 0.1 0"/><mass value="0.4"/>
    <inertia ixx="0.004" ixy="0" ixz="0" iyy="0.003" iyz="0" izz="0.005"/></inertial></link>
  <link name="tool"><inertial><mass value="0.7"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.012" iyz="0" izz="0.009"/></inertial></link>
  <link name="tip"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="0 0 0.5" rpy="0.1 0.2 0.3"/><axis xyz="0 2 0"/>
    <limit lower="0.2" upper="1.5" effort="30" velocity="2"/><dynamics damping="0.1" friction="0.05"/></joint>
  <joint name="weld" type="fixed"><parent link="upper"/><child link="flange"/><origin xyz="0.4 0 0" rpy="0 0 1.2"/></joint>
  <joint name="slide" type="prismatic"><parent link="flange"/><child link="tool"/><axis xyz="0 0 1"/>
    <limit lower="-0.1" upper="0.3" effort="0" velocity="1"/></joint>
  <joint name="end" type="fixed"><parent link="tool"/><child link="tip"/><origin xyz="0.1 0 0.05"/></joint>
</robot>
"""
